"""Answers that come in part or not at all, clients that leave, files that fail: what is kept, and what goes on."""

import asyncio
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import apsw
import orjson
import pytest
import pytest_asyncio

from mnemoir.chats import recording
from mnemoir.chats.recording import Recorded
from mnemoir.chats.stored_turns import store_answer
from mnemoir.core.events import Event
from tests.chats.chat_kit import Chats, opened_chats, texts_of
from tests.failing_calls import failing_calls
from tests.scripted_llm import Answer, ScriptedLLM, failure
from tests.server.server_kit import error_of
from tests.storage.sqlite.faulty_disk import Disk, faulty_disk
from tests.workflows.workflow_kit import read_until

pytestmark = pytest.mark.asyncio(loop_scope="module")
OWN_LOOP = pytest.mark.asyncio(loop_scope="function")
SHORT = {"llm.timeouts.first_byte_s": 0.3, "llm.timeouts.between_bytes_s": 0.3}
# vectors of messages are written behind the answers: they would take a fault that is meant for a chat
UNSEARCHED = {"memory.vector_store.enabled": False}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def everyones(tmp_path_factory):
    with faulty_disk() as disk:
        async with (
            ScriptedLLM() as llm,
            opened_chats(tmp_path_factory.mktemp("faults"), llm, **UNSEARCHED) as opened,
        ):
            yield opened, disk


@pytest.fixture
def chats(everyones: tuple[Chats, Disk]) -> Chats:
    opened, disk = everyones
    disk.disarm()
    opened.llm.clear()
    return opened.anew()


@pytest.fixture
def disk(everyones: tuple[Chats, Disk]) -> Disk:
    return everyones[1]


async def stored(chats: Chats, count: int) -> list[tuple[str, str, str | None]]:
    """Role, words and end of the messages of the conversation, once there are so many."""
    async with asyncio.timeout(60):
        while len(found := await chats.thread(view="tree")) < count:  # noqa: ASYNC110  # no answer tells it
            await asyncio.sleep(0.002)
    return [(one["role"], one["content"].strip(), one["finish_reason"]) for one in found]


async def read(chats: Chats, recorded: Recorded, words: int) -> str:
    """Run the chat as a client does that leaves after so many words."""
    happened: list[Event] = []

    def is_enough(batch: Sequence[Event]) -> bool:
        happened.extend(batch)
        return len(words_of(happened)) >= words

    await read_until(partial(chats.parts.chats.recorder.answer, recorded), is_enough)
    return "".join(words_of(happened))


def words_of(happened: Sequence[Event]) -> list[str]:
    return [event.text for event in happened if hasattr(event, "text")]


# --- answers in part


async def test_of_an_answer_that_its_client_left_stays_what_had_come(chats):
    chats.llm.reply("One two three four", stall_after=2)
    await read(chats, await chats.begun("Count"), 2)
    assert await stored(chats, 2) == [("user", "Count", None), ("assistant", "One two", "incomplete")]


@pytest.mark.parametrize("fault", ["cut_after", "end_after"])
async def test_of_an_answer_that_breaks_off_stays_what_had_come(chats, fault):
    chats.llm.reply("One two three four", **{fault: 2})
    answer = await chats.chat("Count", stream=True)
    assert b"error" in answer.body.strip().splitlines()[-1]
    assert await stored(chats, 2) == [("user", "Count", None), ("assistant", "One two", "incomplete")]


@pytest.mark.parametrize("is_asked", [False, True], ids=["broken", "stopped"])
async def test_what_came_of_an_answer_is_stored_before_the_client_reads_its_error(chats, monkeypatch, is_asked):
    storing, released = threading.Event(), threading.Event()

    def slowly(*args: Any) -> object:
        storing.set()
        released.wait()
        return store_answer(*args)

    monkeypatch.setattr(recording, "store_answer", slowly)
    chats.llm.reply("One two three four", **{"stall_after" if is_asked else "cut_after": 2})
    sent: list[bytes] = []
    begun = asyncio.Event()

    async def watched(scope: Any, receive: Any, send: Any) -> None:
        async def watch(message: Any) -> None:
            sent.append(message.get("body", b""))
            if b"two" in sent[-1]:
                begun.set()
            await send(message)

        await chats.app(scope, receive, watch)

    chat = asyncio.create_task(replace(chats, app=watched).chat("Count", stream=True))
    await begun.wait()
    if is_asked:
        frame = next(line for one in sent for line in one.splitlines() if line.startswith(b"data: {"))
        stopped = await chats.ask("DELETE", "/api/chat", {"request_id": orjson.loads(frame[6:])["id"]})
        assert stopped.status == 200
    await asyncio.to_thread(storing.wait)
    told = b"".join(sent)
    released.set()
    await chat
    assert b"error" not in told
    assert b"error" in b"".join(sent)
    assert await chats.lines() == [("user", "Count"), ("assistant", "One two ")]


@pytest.mark.parametrize("answer", [failure(500), failure(401), Answer(text="x", cut_after=0)])
async def test_of_an_answer_that_never_began_stays_the_question(chats, answer):
    chats.llm.queue(answer)
    await chats.chat("Are you there?", stream=True)
    again = await chats.chat("Are you there?", stream=True)
    assert again.status == 200
    assert await stored(chats, 2) == [("user", "Are you there?", None), ("assistant", "Understood.", "stop")]


@OWN_LOOP
@pytest.mark.real_time
async def test_of_an_answer_that_falls_silent_stays_what_had_come(tmp_path):
    async with ScriptedLLM() as llm, opened_chats(tmp_path, llm, **SHORT) as chats:
        llm.reply("One two three four", stall_after=2)
        answer = await chats.chat("Count", stream=True)
        assert b"error" in answer.body.strip().splitlines()[-1]
        assert await stored(chats, 2) == [("user", "Count", None), ("assistant", "One two", "incomplete")]


@OWN_LOOP
@pytest.mark.real_time
async def test_of_a_model_that_stays_silent_stays_the_question(tmp_path):
    async with ScriptedLLM() as llm, opened_chats(tmp_path, llm, **SHORT) as chats:
        llm.queue(Answer(silent=True))
        assert b"llm_timeout" in (await chats.chat("Are you there?", stream=True)).body
        assert await stored(chats, 1) == [("user", "Are you there?", None)]


async def test_an_answer_without_a_word_is_none(chats):
    chats.llm.reply("")
    assert (await chats.chat("Say nothing")).status == 200
    assert texts_of(await chats.lines()) == ["Say nothing"]


async def test_an_answer_that_ends_at_its_limit_says_so(chats):
    chats.llm.reply("One two", reason="length")
    await chats.chat("Count", stream=True)
    assert (await stored(chats, 2))[1] == ("assistant", "One two", "length")


async def test_a_client_that_goes_on_from_what_it_had_seen_goes_on_in_the_same_branch(chats):
    chats.llm.reply("One two three", stall_after=2)
    await read(chats, await chats.begun("Count"), 2)
    await stored(chats, 2)
    await chats.chat("Count", "One two", "Go on")
    assert [one["on_thread"] for one in await chats.thread(view="tree")] == [True] * 4


@OWN_LOOP
async def test_a_whole_answer_is_kept_though_its_client_leaves_as_it_is_being_stored(tmp_path):
    """All threads are busy, so that storing waits for one."""
    async with ScriptedLLM() as llm, opened_chats(tmp_path, llm) as chats:
        recorded = await chats.begun("Count")
        loop, may_end = asyncio.get_running_loop(), threading.Event()
        loop.set_default_executor(ThreadPoolExecutor(1))
        busy = loop.run_in_executor(None, may_end.wait, 20)
        reading = asyncio.create_task(read(chats, recorded, 1000))
        while "store an answer" not in [task.get_name() for task in asyncio.all_tasks()]:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        reading.cancel()
        await asyncio.wait([reading])
        may_end.set()
        await busy
        assert await stored(chats, 2) == [("user", "Count", None), ("assistant", "Understood.", "stop")]


@OWN_LOOP
async def test_what_had_come_is_written_before_the_program_ends(tmp_path):
    async with ScriptedLLM() as llm:
        async with opened_chats(tmp_path, llm) as chats:
            llm.reply("One two three", stall_after=2)
            await read(chats, await chats.begun("Count"), 2)
        async with opened_chats(tmp_path, llm) as again:
            same = Chats(app=again.app, parts=again.parts, llm=llm, project=chats.project)
            assert len(await stored(same, 2)) == 2


# --- files that fail


@pytest.mark.parametrize("error", [apsw.FullError, apsw.IOError, apsw.CantOpenError])
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
async def test_a_full_disk_costs_a_chat_its_record_and_nothing_else(chats, disk, error, stream):
    await chats.chat("one")
    disk.arm(1, error)
    answer = await chats.chat("one", "Understood.", "two", stream=stream)
    assert disk.disarm()
    assert (answer.status, b"Understood" in answer.body) == (200, True)
    assert "x-conversation-id" not in answer.headers
    assert texts_of(await chats.lines()) == ["one", "Understood."]
    assert "x-conversation-id" in (await chats.chat("one", "Understood.", "two")).headers
    assert texts_of(await chats.lines()) == ["one", "Understood.", "two", "Understood."]


@failing_calls
async def test_a_disk_that_fails_at_any_step_stops_no_chat_and_loses_nothing_of_before(chats, disk, failing):
    await chats.chat("one")
    with disk.noting() as calls:
        await chats.chat("whole", history="client")
    for attempt in failing(disk, calls, apsw.FullError):
        with attempt:
            answer = await chats.chat(f"question {attempt.number}", history="client")
        assert (answer.status, b"Understood" in answer.body) == (200, True)
        assert texts_of(await chats.lines())[:2] == ["one", "Understood."]
    assert texts_of(await chats.lines())[-2:] == [f"question {attempt.number}", "Understood."]


async def test_an_answer_that_cannot_be_stored_is_the_client_s_all_the_same(chats, disk):
    recorded = await chats.begun("Count")
    disk.arm(1, apsw.FullError)
    assert await read(chats, recorded, 1000) == "Understood."
    assert disk.disarm()
    assert texts_of(await chats.lines()) == ["Count"]


async def test_the_server_s_history_that_cannot_be_stored_is_an_error_that_says_so(chats, disk):
    await chats.chat("one")
    disk.arm(1, apsw.FullError)
    answer = await chats.chat("two", history="server")
    assert disk.disarm()
    assert error_of(answer) == (503, "storage_unavailable")
    assert (await chats.chat("two", history="server")).status == 200


async def test_a_damaged_file_is_set_aside_and_the_chat_is_kept_in_a_new_one(chats):
    await chats.chat("one")
    await chats.parts.chats.conversations.aclose()
    file = chats.folder() / "conversations.db"
    file.write_bytes(b"no database at all " * 500)
    answer = await chats.chat("two")
    assert (answer.status, answer.headers["x-conversation-id"]) == (200, "tea")
    assert texts_of(await chats.lines()) == ["two", "Understood."]
    (aside,) = chats.folder().glob("conversations.db.corrupt-*Z")
    assert aside.read_bytes().startswith(b"no database at all")


async def test_a_folder_that_cannot_be_made_costs_the_record_alone(chats):
    chats.folder().parent.parent.mkdir(parents=True, exist_ok=True)
    chats.folder().parent.write_text("a file in its place")
    answer = await chats.chat("one")
    assert (answer.status, "x-conversation-id" in answer.headers) == (200, False)
    assert error_of(await chats.chat("one", history="server")) == (503, "storage_unavailable")


async def test_a_client_that_leaves_while_its_question_is_being_stored_leaves_it_whole_or_not_at_all(chats):
    await chats.chat("one")
    for delay in range(40):
        beginning = asyncio.create_task(chats.begun("one", "Understood.", f"{delay}"))
        for _ in range(delay):
            await asyncio.sleep(0)
        beginning.cancel()
        await asyncio.wait([beginning])
    answer = await chats.chat("one", "Understood.", "last")
    assert answer.headers["x-conversation-id"] == "tea"
    assert texts_of(await chats.lines()) == ["one", "Understood.", "last", "Understood."]
