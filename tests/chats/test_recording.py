"""Chats that are kept: what of them, once each, in which order, and what a model is shown of it."""

import asyncio
import json
from base64 import b64encode
from typing import Any
from urllib.parse import unquote

import orjson
import pytest
import pytest_asyncio

from tests.chats.chat_kit import Chats, is_summary, opened_chats, said, texts_of, told
from tests.remembering_model import learn_every_turn
from tests.scripted_llm import Answer, Asked, ScriptedLLM, failure
from tests.server.server_kit import error_of
from tests.wire.task_prompts import TITLE
from tests.workflows.nodes.pictures import png

pytestmark = pytest.mark.asyncio(loop_scope="module")
WAYS = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": "the pot"}'}}
PICTURE = f"data:image/png;base64,{b64encode(png(filler=b'a pot')).decode()}"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def everyones(tmp_path_factory):
    async with ScriptedLLM() as llm, opened_chats(tmp_path_factory.mktemp("recording"), llm) as opened:
        yield opened


@pytest.fixture
def chats(everyones: Chats) -> Chats:
    everyones.llm.clear()
    return everyones.anew()


# --- what is kept


@WAYS
async def test_a_chat_with_a_session_is_kept_with_its_answer_and_names_its_conversation(chats, stream):
    answer = await chats.chat("Hello", stream=stream)
    assert (answer.status, answer.headers["x-conversation-id"]) == (200, "tea")
    question, reply = await chats.thread()
    assert (question["content"], reply["content"]) == ("Hello", "Understood.")
    assert (reply["parent_id"], reply["finish_reason"]) == (question["id"], "stop")
    assert reply["run_id"] == answer.headers["x-workflow-run-id"]
    assert reply["turn_id"] == question["turn_id"]


@pytest.mark.parametrize(
    ("body", "id"),
    [
        ({}, None),
        ({"store": False}, "tea"),
        ({"messages": [said("system", "Be kind.")]}, "tea"),
        ({"messages": told(TITLE)}, "tea"),
    ],
    ids=["no session", "not wanted", "no talk", "an app's own"],
)
async def test_what_is_no_conversation_is_answered_and_not_kept(chats, body, id):
    answer = await chats.chat("Hello", id=id, **body)
    assert (answer.status, "x-conversation-id" in answer.headers) == (200, False)
    assert not chats.folder().exists()


async def test_a_prompt_without_roles_is_not_kept(chats):
    body = {"model": "any", "prompt": "Once upon a time"}
    for route in ("/v1/completions", "/api/generate"):
        answer = await chats.ask("POST", route, {**body, "stream": False}, x_session_id="tea")
        assert (answer.status, "x-conversation-id" in answer.headers) == (200, False)
    assert not chats.folder().exists()


@pytest.mark.parametrize("switched_on", ["by the request", "by the settings"])
async def test_without_a_session_a_history_finds_its_conversation_again(tmp_path, chats, switched_on):
    async def talk(place: Chats, **body: Any) -> None:
        first = await place.chat("Hello", id=None, **body)
        again = await place.chat("Hello", "Understood.", "And now?", id=None, **body)
        other = await place.chat("Hello you", id=None, **body)
        ids = [answer.headers["x-conversation-id"] for answer in (first, again, other)]
        assert (ids[0] == ids[1], len(set(ids)), len(ids[0])) == (True, 2, 36)
        assert texts_of(await place.lines(ids[0])) == ["Hello", "Understood.", "And now?", "Understood."]

    if switched_on == "by the request":
        await talk(chats, store=True)
        return
    async with opened_chats(tmp_path, chats.llm, **{"memory.enabled": True}) as keeping:
        await talk(keeping)
        assert "x-conversation-id" not in (await keeping.chat("Hello", id=None, store=False)).headers


async def test_a_switch_keeps_nothing_but_what_a_request_wants_kept(tmp_path, chats):
    async with opened_chats(tmp_path, chats.llm, **{"memory.keep_sessions": False}) as place:
        assert "x-conversation-id" not in (await place.chat("Hello")).headers
        assert not place.folder().exists()
        assert (await place.chat("Hello", store=True)).headers["x-conversation-id"] == "tea"
        refused = await place.chat("Hello", id="pot", history="server")
        assert error_of(refused) == (400, "invalid_request")


async def test_with_the_stored_history_words_that_are_said_again_are_new_words(chats):
    for _ in range(3):
        await chats.chat("Hello", history="server")
    assert texts_of(await chats.lines()) == ["Hello", "Understood."] * 3


async def test_with_the_stored_history_a_question_that_got_no_answer_is_not_said_twice(chats):
    chats.llm.queue(failure(400))
    await chats.chat("Hello", history="server")
    await chats.chat("Hello", history="server")
    assert texts_of(await chats.lines()) == ["Hello", "Understood."]


async def test_a_name_of_any_letters_comes_back_encoded(chats):
    answer = await chats.chat("Hello", id="Tee für zwei/%41 \U0001f375")
    assert answer.headers["x-conversation-id"].isascii()
    assert unquote(answer.headers["x-conversation-id"]) == "Tee für zwei/%41 \U0001f375"
    assert await chats.ids() == ["Tee für zwei/%41 \U0001f375"]


async def test_an_id_that_cannot_be_stored_keeps_nothing_and_stops_no_chat(chats):
    for id in ("a\nb", "a\x01b", "a\u202eb"):
        answer = await chats.chat("Hello", id=None, session_id=id)
        assert (answer.status, "x-conversation-id" in answer.headers) == (200, False)
        wanted = await chats.chat("Hello", id=None, session_id=id, history="server")
        assert error_of(wanted) == (400, "invalid_request")
        assert b"printable" in wanted.body
    assert await chats.ids() == []


async def test_an_id_of_300_characters_is_refused_from_wherever_it_comes(chats):
    for refused in (
        await chats.chat("Hello", id="x" * 300),
        await chats.chat("Hello", id=None, conversation_id="x" * 300),
    ):
        assert error_of(refused) == (400, "validation_error")
    assert chats.questions == []


# --- histories that come again


async def test_a_history_that_is_sent_again_adds_only_what_is_new(chats):
    history = ["one"]
    for text in ("two", "three"):
        await chats.chat(*history)
        history += ["Understood.", text]
    await chats.chat(*history)
    assert texts_of(await chats.lines()) == [*history, "Understood."]
    assert len(await chats.thread(view="tree")) == 6


async def test_an_edited_question_begins_a_branch(chats):
    await chats.chat("one")
    await chats.chat("one", "Understood.", "two")
    await chats.chat("one", "Understood.", "two?")
    assert texts_of(await chats.lines()) == ["one", "Understood.", "two?", "Understood."]
    assert len(await chats.thread(view="tree")) == 6


async def test_a_regenerated_answer_stands_beside_the_first(chats):
    for text in ("first", "second"):
        chats.llm.reply(text)
        await chats.chat("one")
    assert texts_of(await chats.lines()) == ["one", "second"]
    tree = await chats.thread(view="tree")
    assert (len(tree), tree[1]["parent_id"], tree[2]["parent_id"]) == (3, tree[0]["id"], tree[0]["id"])


async def test_a_history_that_was_cut_in_front_goes_on_where_it_stands(chats):
    for text in ("A", "B"):
        chats.llm.reply(text)
    await chats.chat("one")
    await chats.chat("one", "A", "two")
    await chats.chat(said("assistant", "A"), said("user", "two"), said("assistant", "B"), said("user", "three"))
    assert texts_of(await chats.lines()) == ["one", "A", "two", "B", "three", "Understood."]


async def test_the_same_request_twice_at_once_asks_once_and_keeps_both_answers(chats):
    await asyncio.gather(chats.chat("one"), chats.chat("one"))
    tree = await chats.thread(view="tree")
    assert [one["role"] for one in tree] == ["user", "assistant", "assistant"]
    assert {one["parent_id"] for one in tree[1:]} == {tree[0]["id"]}


async def test_questions_of_one_conversation_at_once_are_all_kept_and_each_is_answered(chats):
    chats.llm.rule(lambda asked: chats.project in asked.prompt, lambda asked: f"To {asked.body['messages'][-1]}")
    questions = [f"{chats.project} {number}" for number in range(6)]
    await asyncio.gather(*(chats.chat(question, history="server") for question in questions))
    tree = await chats.thread(view="tree")
    asked = {one["id"]: one["content"] for one in tree if one["role"] == "user"}
    answers = [one for one in tree if one["role"] == "assistant"]
    assert (sorted(asked.values()), len(answers)) == (questions, 6)
    assert all(asked[one["parent_id"]] in one["content"] for one in answers)


async def test_calls_of_tools_and_their_results_are_one_turn(chats):
    chats.llm.reply(tool_calls=[("look", {"at": "the pot"})], reason="tool_calls")
    tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
    reply = orjson.loads((await chats.chat("Is it hot?", tools=tools)).body)["choices"][0]["message"]
    result = said("tool", "92 degrees", tool_call_id=reply["tool_calls"][0]["id"])
    await chats.chat("Is it hot?", reply, result, tools=tools)
    stored = await chats.thread()
    assert [one["role"] for one in stored] == ["user", "assistant", "tool", "assistant"]
    assert json.loads(stored[1]["tool_calls"][0]["function"]["arguments"]) == {"at": "the pot"}
    assert (stored[1]["finish_reason"], len({one["turn_id"] for one in stored})) == ("tool_calls", 1)


async def test_a_picture_is_stored_once_and_comes_again_with_the_server_s_history(chats):
    content = [{"type": "text", "text": "See?"}, {"type": "image_url", "image_url": {"url": PICTURE}}]
    await chats.chat(said("user", content))
    await chats.chat(said("user", content), said("assistant", "Understood."), said("user", "Sure?"))
    assert len([file for file in (chats.folder() / "objects").rglob("*") if file.is_file()]) == 1
    assert len(await chats.thread(view="tree")) == 4
    await chats.chat("And now?", history="server")
    assert PICTURE in json.dumps(chats.shown)


# --- the server's history


async def test_the_stored_prompt_leads_unless_the_client_sends_one(chats):
    await chats.chat(said("system", "Be kind."), said("developer", "Be brief."), said("user", "one"))
    await chats.chat("two", history="server")
    assert chats.shown[0] == ("system", "Be kind.\n\nBe brief.")
    await chats.chat(said("system", "Be quick."), said("user", "three"), history="server")
    assert [content for role, content in chats.shown if role == "system"] == ["Be quick."]
    assert [role for role, _ in await chats.lines()] == ["user", "assistant"] * 3


async def test_a_system_prompt_sent_with_each_message_is_shown_once_and_is_no_message(chats):
    """As the web UI sends it: with every new message, until it is taken out of the conversation."""
    prompt, parent = said("system", "Rhyme."), 0
    for text in ("one", "two"):
        await chats.chat(prompt, said("user", text), history="server", parent_id=parent, temperature=0.5)
        assert [content for role, content in chats.shown if role == "system"] == ["Rhyme."]
        assert [one.body["temperature"] for one in chats.llm.requests if "messages" in one.body][-1] == 0.5
        parent = (await chats.thread())[-1]["id"]
    assert (await chats.get("/api/conversations/tea"))["system_prompt"] == "Rhyme."
    await chats.ask("PATCH", "/api/conversations/tea", {"system_prompt": ""})
    await chats.chat("three", history="server", parent_id=parent)
    assert [role for role, _ in chats.shown] == ["user", "assistant"] * 2 + ["user"]
    assert [role for role, _ in await chats.lines(view="tree")] == ["user", "assistant"] * 3


async def test_a_history_of_the_server_needs_a_conversation(chats):
    assert error_of(await chats.chat("Hello", id=None, history="server")) == (400, "invalid_request")
    assert error_of(await chats.chat("Hello", history="both")) == (400, "invalid_request")
    assert (await chats.chat("Hello", id=None, history=["foreign"])).status == 200


@pytest.mark.parametrize("strategy", ["simple", "summarization", "hybrid"])
async def test_each_strategy_shows_a_window_that_ends_with_what_is_new(tmp_path, chats, strategy):
    settings = {"memory.strategy": strategy, "memory.history": "server", "memory.max_history_tokens": 512}
    async with opened_chats(tmp_path, chats.llm, **settings) as place:
        for number in range(8):
            await place.chat(f"{number} {'tea ' * 100}".strip())
        window = [(role, content) for role, content in place.shown if role != "system"]
        assert window[-1] == ("user", f"7 {'tea ' * 100}".strip())
        assert 1 < len(window) < 15
        large = await place.chat(f"large {'tea ' * 3000}")
        assert (large.status, place.shown[-1][1].startswith("large")) == (200, True)
        assert len(await place.thread()) == 18
        asked = await place.chat("Mine?", "Yours.", "Whose?", history="client")
        assert (asked.status, texts_of(place.shown)) == (200, ["Mine?", "Yours.", "Whose?"])


async def test_a_tool_s_result_larger_than_the_window_comes_with_its_call_and_question(tmp_path, chats):
    settings = {"memory.history": "server", "memory.max_history_tokens": 512}
    async with opened_chats(tmp_path, chats.llm, **settings) as place:
        await place.chat("Good morning")
        place.llm.reply(tool_calls=[("look", {"at": "the pot"})], reason="tool_calls")
        reply = orjson.loads((await place.chat("Is it hot?")).body)["choices"][0]["message"]
        result = said("tool", "hot " * 3000, tool_call_id=reply["tool_calls"][0]["id"])
        assert (await place.chat(result)).status == 200
        assert [role for role, _ in place.shown] == ["user", "assistant", "tool"]
        assert place.shown[0][1] == "Is it hot?"


async def test_summaries_that_take_their_time_hold_up_nobody_else(tmp_path, chats):
    """As many as there are threads for everybody, and more: a summary itself may need one of those."""
    settings = {"memory.strategy": "summarization", "memory.history": "server", "memory.max_history_tokens": 512}
    async with ScriptedLLM() as llm, opened_chats(tmp_path, llm, **settings) as place:
        ids = [f"talk {number}" for number in range(12)]
        for id in ids:
            await place.chat(*[f"{number} {'tea ' * 100}" for number in range(7)], id=id, history="client")
        summarised = asyncio.Semaphore(0)

        def summary(asked: Asked) -> Answer:
            summarised.release()
            return Answer(text="Tea.", silent=True)

        llm.rule(is_summary, summary)
        waiting = [asyncio.create_task(place.chat("And now?", id=id)) for id in ids]
        for _ in ids:
            await summarised.acquire()
        assert len(await place.ids()) == len(ids)
        assert not any(task.done() for task in waiting)
        llm.release()
        assert [answer.status for answer in await asyncio.gather(*waiting)] == [200] * len(ids)


# --- what was said before


async def test_what_is_recalled_stands_in_front_of_the_question_and_is_no_part_of_it(tmp_path, chats):
    settings = {"memory.rag.enabled": True, "memory.rag.min_similarity": 0.0}
    async with opened_chats(tmp_path, chats.llm, **settings) as place:
        await place.chat("My pot is green", id="other")
        await place.post("/api/conversations/other/flush", None)
        seen = learn_every_turn(place.llm)
        await place.chat("Is my pot green", memoryEnabled=True)
        question = next(one for one in place.questions if one.endswith("Is my pot green"))
        assert "[USER]: My pot is green" in question
        assert texts_of(await place.lines()) == ["Is my pot green", "Understood."]
        while not seen:  # noqa: ASYNC110  # what is learned behind the answer tells nobody
            await asyncio.sleep(0.001)
        assert seen == [["Is my pot green"]]


async def test_what_the_model_is_shown_anyway_is_not_recalled_beside_it(tmp_path, chats):
    settings = {"memory.rag.enabled": True, "memory.rag.min_similarity": 0.0, "memory.history": "server"}
    async with opened_chats(tmp_path, chats.llm, **settings) as place:
        await place.chat("My pot is green")
        await place.post("/api/conversations/tea/flush", None)
        await place.chat("Is my pot green")
        assert texts_of(place.shown) == ["My pot is green", "Understood.", "Is my pot green"]
