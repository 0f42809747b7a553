"""What was said just before makes a turn understandable, and is no source of memories."""

import json

import pytest

from tests.remembering_model import is_extraction
from tests.scripted_llm import ScriptedLLM
from tests.server.server_kit import Server, asks, error_of, hello
from tests.server.test_learned_from_messages import learned
from tests.server.test_update_prompt import MEMORIES, Script, script, stored, told

OFF = {"embedding.multilingual": "off"}
QUESTION = {"role": "assistant", "content": "So you live in Oslo now?"}
_ = script  # a fixture


def shown(llm: ScriptedLLM) -> list[dict]:
    """The documents of the extractions that the model was asked for, in order."""
    asked = [one.body["messages"][-1]["content"] for one in llm.requests if is_extraction(one)]
    return [json.loads(text if isinstance(text, str) else text[0]["text"]) for text in asked]


async def lives_in_graz(server: Server, script: Script) -> None:
    script(["Lives in Graz"])
    await server.post(MEMORIES, told("I live in Graz"))
    script(["Lives in Oslo"], ("0", "Lives in Oslo", "UPDATE"))


@pytest.mark.parametrize(
    ("context", "said", "after"),
    [
        ([QUESTION], "Yes", "Lives in Oslo"),
        ([{"role": "assistant", "content": "Oslo is lovely."}], "I live there now", "Lives in Oslo"),
        ([], "Yes", "Lives in Graz"),
        ([QUESTION], "What is for lunch?", "Lives in Graz"),
        ([{"role": "user", "content": "I live in Oslo now"}], "What is for lunch?", "Lives in Graz"),
        ([QUESTION, *[{"role": "user", "content": "Hm."}] * 2], "Yes", "Lives in Graz"),
    ],
)
async def test_a_turn_is_understood_by_the_two_before_it(open_server, llm, script, context, said, after):
    server = await open_server(asks(llm) | OFF)
    await lives_in_graz(server, script)
    await server.post(MEMORIES, told(said) | {"context": context})
    assert await stored(server) == [after]


async def test_the_context_is_shown_apart_and_kept_nowhere(open_server, llm, script):
    server = await open_server(asks(llm) | OFF)
    script(["Lives in Oslo"])
    long = {"role": "user", "content": "a " * 2000 + "Oslo?"}
    answer = await server.post(
        MEMORIES, told("Yes") | {"context": [QUESTION, {"role": "tool", "content": "7"}, long]}
    )
    [document] = shown(llm)
    assert document["turns"] == [{"role": "user", "text": "Yes"}]
    assert [(turn["role"], len(turn["text"])) for turn in document["context"]] == [("assistant", 24), ("user", 2000)]
    details = await server.get(f"{MEMORIES}/{answer['results'][0]['id']}/details?user_id=mira")
    assert [source["content"] for source in details["sources"]] == ["Yes"]


async def test_a_context_of_a_hundred_turns_is_taken_and_one_of_another_shape_is_refused(open_server, llm, script):
    server = await open_server(asks(llm) | OFF)
    script(["Lives in Oslo"])
    await server.post(MEMORIES, told("Yes") | {"context": [QUESTION] * 100})
    assert len(shown(llm)[0]["context"]) == 2
    for wrong in ("So?", [{"content": "So?"}], [7]):
        assert error_of(await server.ask("POST", MEMORIES, told("Yes") | {"context": wrong}))[0] == 422


async def test_a_chat_sends_what_was_said_before_its_turn(open_server, llm, script):
    server = await open_server(asks(llm) | OFF)
    script(["Lives in Oslo"])
    llm.reply("Noted.")
    said = [("system", "Be brief."), ("user", "I moved."), ("assistant", QUESTION["content"]), ("user", "Yes")]
    turns = [{"role": role, "content": text} for role, text in said]
    body = hello(messages=turns, history="server", conversation_id="tea", memoryEnabled=True)
    await server.ask("POST", "/v1/chat/completions", body)
    (answer,) = (await server.get("/api/conversations/tea/messages?limit=1"))["results"]
    await learned(server, f"/api/conversations/tea/messages/{answer['id']}/learned")
    [document] = shown(llm)
    assert [turn["text"] for turn in document["turns"]] == ["Yes", "Noted."]
    assert [turn["text"] for turn in document["context"]] == ["I moved.", QUESTION["content"]]
