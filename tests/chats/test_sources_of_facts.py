"""What is learned in a kept conversation leads back to the messages it came from, by their uids."""

import asyncio

import pytest
import pytest_asyncio

from tests.chats.chat_kit import Chats, opened_chats
from tests.remembering_model import learn_every_turn
from tests.scripted_llm import ScriptedLLM
from tests.server.server_kit import JSON, succeeded

pytestmark = pytest.mark.asyncio(loop_scope="module")
RABBIT = "I have a rabbit called Flocke"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def everyones(tmp_path_factory):
    async with ScriptedLLM() as llm, opened_chats(tmp_path_factory.mktemp("sources"), llm) as opened:
        learn_every_turn(llm)
        yield opened


@pytest.fixture
def chats(everyones: Chats) -> Chats:
    return everyones.anew()


async def sources(chats: Chats) -> list[JSON]:
    """The turns that the one fact of the user came from, once there is one."""
    async with asyncio.timeout(60):
        while not (facts := (await chats.get("/api/memories/user"))["results"]):  # noqa: ASYNC110  # no answer tells it
            await asyncio.sleep(0.01)
    found: list[JSON] = (await chats.get(f"/api/memories/{facts[0]['id']}/details"))["sources"]
    return found


async def test_a_fact_names_the_messages_it_came_from(chats):
    await chats.chat("Hello")
    await chats.chat("Hello", "Understood.", RABBIT, memoryEnabled=True)
    asked, answer = (await chats.thread())[2:]
    assert [(one["message_uid"], one["message_id"], one["content"]) for one in await sources(chats)] == [
        (asked["uid"], asked["id"], RABBIT),
        (answer["uid"], answer["id"], "Understood."),
    ]


async def test_a_fact_finds_its_messages_though_their_words_were_said_before(chats):
    await chats.chat(RABBIT)
    await chats.chat(RABBIT, "Understood.", RABBIT, memoryEnabled=True)
    asked = (await chats.thread())[2]
    assert (await sources(chats))[0]["message_id"] == asked["id"]


async def test_a_fact_finds_its_messages_in_a_conversation_that_was_exported_and_came_back(chats):
    await chats.chat(RABBIT, memoryEnabled=True)
    before = await sources(chats)
    copy = (await chats.ask("GET", "/api/conversations/tea/export")).body
    await chats.chat("Something else", id="other")
    succeeded(await chats.ask("POST", "/api/conversations/import?on_conflict=replace", copy))
    after = await sources(chats)
    assert [one["message_uid"] for one in after] == [one["message_uid"] for one in before]
    assert [one["message_id"] for one in after] == [one["id"] for one in await chats.thread()]
    assert [one["message_id"] for one in after] != [one["message_id"] for one in before]


async def test_a_question_that_is_sent_again_keeps_its_uid(chats):
    recorded = [await chats.begun(RABBIT), await chats.begun(RABBIT)]
    (asked,) = await chats.thread()
    assert [one.turn.question_uid for one in recorded] == [asked["uid"]] * 2


async def test_the_trace_of_a_kept_chat_names_its_messages(chats):
    answer = await chats.chat("Hello")
    run = await chats.get(f"/api/runs/{answer.headers['x-workflow-run-id']}")
    assert run["message_uids"] == [one["uid"] for one in await chats.thread()]


async def test_the_trace_of_a_chat_that_is_not_kept_names_none(chats):
    answer = await chats.chat("Hello", id=None)
    run = await chats.get(f"/api/runs/{answer.headers['x-workflow-run-id']}")
    assert run["message_uids"] == []
