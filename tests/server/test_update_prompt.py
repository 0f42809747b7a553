"""The four events of the update prompt over HTTP, with the user's turn that says it, and without."""

import json
import random

import pytest

from tests.memory.truth.changes import BORNE_OUT, NOT_BORNE_OUT
from tests.remembering_model import DECISION, is_extraction
from tests.scripted_llm import Answer, ScriptedLLM
from tests.server.server_kit import Server, asks, succeeded

MEMORIES = "/api/memories"


class Script:
    """What the model answers: the facts, and the changes as (id, text, event)."""

    def __init__(self, llm: ScriptedLLM) -> None:
        self._facts = self._changes = ""
        llm.rule(is_extraction, lambda asked: Answer(text=self._facts))
        llm.rule(lambda asked: DECISION in asked.prompt, lambda asked: Answer(text=self._changes))

    def __call__(self, facts: list[str], *changes: tuple[str, str, str]) -> None:
        """Answer this from now on."""
        rows = [{"id": at, "text": text, "event": event, "old_memory": None} for at, text, event in changes]
        self._facts, self._changes = json.dumps({"facts": facts}), json.dumps({"memory": rows})


@pytest.fixture
def script(llm) -> Script:
    return Script(llm)


def told(*said: str, user: str = "mira") -> dict:
    """The body of an add; a turn that begins with "assistant: " is the assistant's."""
    turns = [(text.partition("assistant: ")[2], text) for text in said]
    messages = [{"role": "assistant" if answer else "user", "content": answer or text} for answer, text in turns]
    return {"messages": messages, "user_id": user}


async def stored(server: Server, user: str = "mira") -> list[str]:
    page = await server.get(f"{MEMORIES}?user_id={user}&limit=1000")
    return sorted(one["memory"] for one in page["results"])


@pytest.mark.parametrize(
    ("before", "said", "facts", "changes", "after", "events"),
    [
        (
            "Is a software engineer",
            "My name is John",
            ["Name is John"],
            [("new", "Name is John", "ADD")],
            ["Is a software engineer", "Name is John"],
            ["ADD"],
        ),
        (
            "Likes cheese pizza",
            "I love cheese pizza with olives",
            ["Loves cheese pizza with olives"],
            [("0", "Loves cheese pizza with olives", "UPDATE")],
            ["Loves cheese pizza with olives"],
            ["UPDATE"],
        ),
        (
            "Loves pizza",
            "I became vegan and no longer eat pizza",
            ["Became vegan, no longer eats pizza"],
            [("0", "Loves pizza", "DELETE")],
            ["Became vegan, no longer eats pizza"],
            ["ADD", "DELETE"],
        ),
        (
            "Loves cheese pizza",
            "As I said, I love pizza",
            ["Loves pizza"],
            [("0", "Loves pizza", "NONE")],
            ["Loves cheese pizza"],
            [],
        ),
    ],
    ids=["ADD", "UPDATE", "DELETE", "NONE"],
)
async def test_each_event_is_done_as_decided(open_server, llm, script, before, said, facts, changes, after, events):
    server = await open_server(asks(llm) | {"embedding.multilingual": "off"})
    script([before])
    await server.post(MEMORIES, told(before))
    script(facts, *changes)
    answer = await server.post(MEMORIES, told(said))
    assert sorted(one["event"] for one in answer["results"]) == events
    assert await stored(server) == after


async def test_what_the_assistant_says_waits_for_a_person(open_server, llm, script):
    server = await open_server(asks(llm) | {"embedding.multilingual": "off"})
    script(["Lives in Graz"])
    await server.post(MEMORIES, told("I live in Graz"))
    script(["Lives in Oslo"], ("0", "Lives in Oslo", "UPDATE"))
    answer = await server.post(MEMORIES, told("Where to?", "assistant: Since you live in Oslo, try skiing."))
    assert answer["results"] == []
    [proposal] = answer["proposed"]
    assert (proposal["event"], proposal["memory"], proposal["reason"]) == ("ADD", "Lives in Oslo", "unconfirmed")
    assert await stored(server) == ["Lives in Graz"]
    succeeded(await server.ask("POST", f"{MEMORIES}/proposals/{proposal['id']}/approve"))
    assert await stored(server) == ["Lives in Oslo"]


async def test_what_was_refused_beside_own_words_is_unsure_and_offered_under_duplicates(open_server, llm, script):
    server = await open_server(asks(llm) | {"embedding.multilingual": "off"})
    script(["Lives in Graz"])
    await server.post(MEMORIES, told("I live in Graz"))
    script(["Lives in Oslo"], ("0", "Lives in Oslo", "UPDATE"))
    answer = await server.post(MEMORIES, told("I row. Where to?", "assistant: As you live in Oslo, to the fjord."))
    [added] = answer["results"]
    history = await server.get(f"{MEMORIES}/{added['id']}/history")
    assert [event["reason"] for event in history["results"]] == ["unsure"]
    found = await server.get(f"{MEMORIES}/duplicates?user_id=mira")
    assert [sorted(one["memory"] for one in group["memories"]) for group in found["results"]] == [
        ["Lives in Graz", "Lives in Oslo"]
    ]


@pytest.mark.slow
async def test_two_hundred_random_answers_change_nothing_that_the_user_did_not_say(open_server, llm, script):
    server = await open_server(asks(llm) | {"embedding.multilingual": "off"})
    dice = random.Random(28)
    for number in range(200):
        (before, said, fact), user = dice.choice([*NOT_BORNE_OUT, *BORNE_OUT]), f"user {number}"
        script([before])
        await server.post(MEMORIES, told(before, user=user))
        texts = [before, fact, f"{before} and {fact}"]
        events = ["ADD", "UPDATE", "DELETE", "NONE"]
        answer = [(dice.choice(["0", "1", "new"]), dice.choice(texts), dice.choice(events)) for _ in range(3)]
        script([fact], *answer)
        await server.post(MEMORIES, told(*said, user=user))
        is_said = (before, said, fact) in BORNE_OUT
        assert is_said or before in await stored(server, user), (before, said, answer)
