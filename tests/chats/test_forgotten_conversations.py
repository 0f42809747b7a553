"""What is forgotten is gone with everything that was made of it, and nothing of anybody else goes with it."""

import asyncio
from base64 import b64encode
from functools import partial
from pathlib import Path
from typing import Any

import apsw
import orjson
import pytest
import pytest_asyncio

from mnemoir.chats.remembering import queue_of
from mnemoir.conversations.nodes.keys import node_key
from mnemoir.core.discussions import Discussion
from mnemoir.core.scope import Scope
from mnemoir.storage.discussions.chunk_ledger import FileChunkLedger
from tests.acceptance.conversation_kit import bytes_below, holds
from tests.chats.chat_kit import Chats, opened_chats, said, texts_of
from tests.failing_calls import attempts
from tests.remembering_model import learn_every_turn
from tests.scripted_llm import Answer, Asked, ScriptedLLM
from tests.server.server_kit import error_of, succeeded
from tests.storage.discussions.ledger_kit import source
from tests.storage.sqlite.faulty_disk import Disk, faulty_disk
from tests.workflows.nodes.pictures import png
from tests.workflows.workflow_kit import events_of

pytestmark = pytest.mark.asyncio(loop_scope="module")
ALL = "/api/conversations"
SECRET = "Zanzibarquince"
TANDEM = "Tandemzinnober"
STAYING = "Quillwortlantern"  # stays in conversations, so that no search of all files may be for it


class Learning:
    """How the model answers when it is to learn: with the user's own words, or `otherwise`."""

    def __init__(self) -> None:
        self.otherwise: Answer | None = None
        self.asked = asyncio.Event()

    def answer(self, extraction: Asked) -> Answer | None:
        self.asked.set()
        return self.otherwise


DOWN = Answer(status=500, body=b"{}")


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["sqlite", "file"])
async def everyones(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(f"forgetting-{request.param}")
    settings = {"storage.backend": request.param, "storage.workspace_root": str(folder / "workspace")}
    with faulty_disk() as disk:
        async with ScriptedLLM() as llm, opened_chats(folder, llm, **settings) as opened:
            learning = Learning()
            learn_every_turn(llm, learning.answer)
            yield opened, disk, folder, learning


@pytest.fixture
def chats(everyones: tuple[Chats, Disk, Path, Learning]) -> Chats:
    opened, disk, _, learning = everyones
    disk.disarm()
    learning.otherwise = None
    opened.llm.clear()
    return opened.anew()


@pytest.fixture
def folder(everyones):
    return everyones[2]


@pytest.fixture
def disk(everyones):
    return everyones[1]


@pytest.fixture
def learning(everyones):
    return everyones[3]


async def discussion_of(chats: Chats, id: str, user: str = "user") -> Discussion:
    return await chats.parts.chats.discussions.discussion(None, id, Scope(project=chats.project, user=user))


async def facts(chats: Chats, user: str = "user") -> list[str]:
    found = await chats.get(f"/api/memories?user_id={user}")
    return sorted(memory["memory"] for memory in found["results"])


async def learned(chats: Chats, *wanted: str, user: str = "user") -> None:
    """Until exactly these are the user's memories."""
    async with asyncio.timeout(60):
        while await facts(chats, user) != sorted(wanted):  # noqa: ASYNC110  # no answer tells it
            await asyncio.sleep(0.002)


async def settled(chats: Chats, user: str = "user") -> None:
    """Until the end of each job is written down, which comes behind what it made: a fault would strike that, too."""
    for queue in ("", queue_of(Scope(project=chats.project, user=user))):
        while any(job.state in ("PENDING", "RUNNING") for job in await chats.parts.upkeep.jobs.stored_jobs(queue)):  # noqa: ASYNC110
            await asyncio.sleep(0.002)


async def forget(chats: Chats, id: str = "tea", user: str = "user"):
    return succeeded(await chats.ask("DELETE", f"{ALL}/{id}?user_id={user}"))


def node_memory(chats: Chats, id: str, words: str, user: str = "user") -> None:
    objects = chats.folder(user) / "objects"
    file = objects / node_key("app", id, "node")
    file.parent.mkdir(parents=True, exist_ok=True)
    record = {"message_id": "r", "parent_message_id": None, "role": "user", "content": words}
    file.write_text(
        orjson.dumps({"version": 1, "messages": [{**record, "created_at": "2026-01-01T00:00:00Z"}]}).decode()
    )


async def everything(chats: Chats, words: str, *, id: str = "tea", user: str = "user") -> None:
    """A conversation of every kind of thing that is kept of one."""
    picture = f"data:image/png;base64,{b64encode(png(filler=words.encode())).decode()}"
    content = [{"type": "text", "text": f"See {words}"}, {"type": "image_url", "image_url": {"url": picture}}]
    body: dict[str, Any] = {"id": id, "user": user, "memoryEnabled": True}
    before = await facts(chats, user)
    await chats.chat(said("system", f"You are {words}."), said("user", content), **body)
    await chats.chat(f"I own a {words}", **body)
    node_memory(chats, id, words, user)
    await learned(chats, *before, f"See {words}", f"I own a {words}", user=user)
    await settled(chats, user)
    await chats.post(f"{ALL}/{id}/flush?user_id={user}", None)


async def test_a_conversation_goes_with_all_that_was_made_of_it(chats, folder):
    await everything(chats, SECRET, id="discussed")
    discussion = await discussion_of(chats, "discussed")
    await FileChunkLedger().append(discussion, f"About {SECRET}", source("a"))
    assert holds(discussion.root, [SECRET]) != {}
    told = await forget(chats, "discussed")
    assert (told["success"], told["messages"], told["memories"], told["node_memories"]) == (True, 4, 2, 1)
    assert holds(folder, [SECRET]) == {}
    assert (await facts(chats), await chats.ids()) == ([], [])


async def test_a_discussion_goes_with_the_conversation_of_its_owner_alone(chats):
    discussion = await discussion_of(chats, "shared")
    await FileChunkLedger().append(discussion, "About tea", source("a"))
    for user in ("user", "otto"):
        await chats.chat("Hello", id="shared", user=user)
    succeeded(await chats.ask("DELETE", "/api/conversations/shared?user_id=otto"))
    assert len(await FileChunkLedger().all(discussion)) == 1
    await forget(chats, "shared")
    assert not await FileChunkLedger().all(discussion)


async def test_other_conversations_and_other_users_stay_as_they_are(chats, folder):
    await everything(chats, SECRET)
    await everything(chats, TANDEM, id="other")
    await everything(chats, TANDEM, user="otto")
    before = (await chats.thread("other"), await facts(chats, "otto"), bytes_below(chats.folder("otto")))
    await forget(chats)
    assert holds(folder, [SECRET]) == {}
    assert await facts(chats) == [f"I own a {TANDEM}", f"See {TANDEM}"]
    assert (await chats.thread("other"), await facts(chats, "otto"), bytes_below(chats.folder("otto"))) == before
    await forget(chats, "other")
    assert texts_of(await chats.lines(user_id="otto"))[-2:] == [f"I own a {TANDEM}", "Understood."]


async def test_turns_that_wait_to_be_looked_into_go_too(chats, folder, learning):
    learning.otherwise = DOWN
    await chats.chat(f"I own a {SECRET}", memoryEnabled=True)
    await chats.chat(f"I own a {TANDEM}", id="other", memoryEnabled=True)
    await forget(chats)
    assert holds(folder, [SECRET]) == {}
    learning.otherwise = None
    await learned(chats, f"I own a {TANDEM}")


async def test_what_the_memory_routes_were_given_for_it_goes_too_while_it_waits(chats, learning):
    learning.otherwise = DOWN
    await chats.chat("Hello")
    for run_id, words in (("tea", SECRET), ("other", TANDEM)):
        await add_later(chats, words, run_id=run_id)
    await forget(chats)
    learning.otherwise = None
    await learned(chats, f"I own a {TANDEM}")


async def test_what_is_being_learned_at_this_moment_is_waited_for_and_goes(chats, folder, learning):
    learning.asked.clear()
    learning.otherwise = Answer(text=orjson.dumps({"facts": [f"Owns a {SECRET}"]}).decode(), silent=True)
    await chats.chat(f"I own a {SECRET}", memoryEnabled=True)
    await learning.asked.wait()
    forgetting = asyncio.create_task(forget(chats))
    await chats.get("/health")
    assert not forgetting.done()
    chats.llm.release()
    assert (await forgetting)["memories"] == 1
    assert (await facts(chats), holds(folder, [SECRET])) == ([], {})


@pytest.mark.parametrize("words", ["Two", ""], ids=["with an answer", "without a word"])
async def test_an_answer_under_way_is_the_client_s_and_is_kept_nowhere(chats, folder, words):
    chats.llm.queue(Answer(text=words, silent=True))
    recorded = await chats.begun(f"I own a {SECRET}", memory=True)
    answering = asyncio.create_task(_read(chats, recorded))
    await chats.llm.arrived.wait()
    assert (await forget(chats))["messages"] == 1
    chats.llm.release()
    assert "".join(await answering) == words
    await chats.chat("I like tea", id="other", memoryEnabled=True)
    await learned(chats, "I like tea")  # and turns are looked into in their order
    assert (await chats.ids(), holds(folder, [SECRET])) == (["other"], {})


async def test_of_a_conversation_that_began_anew_nothing_of_the_old_one_is_learned(chats, folder):
    chats.llm.queue(Answer(text="One", silent=True))
    answering = asyncio.create_task(_read(chats, await chats.begun(f"I own a {SECRET}", memory=True)))
    await chats.llm.arrived.wait()
    await forget(chats)
    await chats.chat("I like tea", memoryEnabled=True)
    chats.llm.release()
    await answering
    await chats.chat("I like rum", memoryEnabled=True)
    await learned(chats, "I like rum", "I like tea")
    assert texts_of(await chats.lines()) == ["I like tea", "Understood.", "I like rum", "Understood."]
    assert holds(folder, [SECRET]) == {}


async def test_chats_and_a_deletion_at_once_leave_a_whole_conversation_or_none(chats):
    for number in range(6):
        await chats.chat(f"question {number}")
        await asyncio.gather(*(chats.chat(f"more {at}") for at in range(3)), forget(chats))
        thread = await chats.thread(view="tree")
        ids = {one["id"] for one in thread}
        assert all(one["parent_id"] in ids or one["parent_id"] is None for one in thread)
        assert f"question {number}" not in [one["content"] for one in thread]
        if thread:
            await forget(chats)


async def test_of_two_who_forget_at_once_one_is_told_that_there_is_nothing(chats):
    await chats.chat("Hello")
    answers = await asyncio.gather(*(chats.ask("DELETE", f"{ALL}/tea") for _ in range(5)))
    assert sorted(answer.status for answer in answers) == [200, 404, 404, 404, 404]


@pytest.mark.slow
@pytest.mark.parametrize("target", [f"{ALL}/tea", f"{ALL}?user_id=user"], ids=["one", "all"])
async def test_a_disk_that_fails_at_any_step_leaves_what_can_be_forgotten_again(chats, disk, folder, target):
    for attempt in attempts(disk, range(1, 400, 13), apsw.FullError, least=13):
        await everything(chats, SECRET)
        with attempt:
            answer = await chats.ask("DELETE", target)
        if answer.status != 200:
            assert error_of(answer) == (503, "storage_unavailable")
            again = await chats.ask("DELETE", target)
            assert again.status == 200
    assert (holds(folder, [SECRET]), await facts(chats)) == ({}, [])


# --- all conversations of a user


async def test_all_conversations_of_a_user_go_with_their_folder_and_nobody_else_s(chats, folder):
    for id in ("tea", "a/b"):
        await everything(chats, SECRET, id=id) if id == "tea" else await chats.chat(f"A {SECRET}", id=id)
    await everything(chats, TANDEM, user="otto")
    before = (await facts(chats, "otto"), bytes_below(chats.folder("otto")))
    told = succeeded(await chats.ask("DELETE", f"{ALL}?user_id=user"))
    assert (told["success"], told["conversations"], told["messages"]) == (True, 2, 6)
    assert (told["memories"], told["node_memories"]) == (2, 1)
    assert not chats.folder().exists()
    assert holds(folder, [SECRET]) == {}
    assert (await facts(chats, "otto"), bytes_below(chats.folder("otto"))) == before
    await chats.chat("Hello again")
    assert texts_of(await chats.lines()) == ["Hello again", "Understood."]


async def test_a_damaged_file_that_was_set_aside_goes_with_the_folder(chats, folder):
    await chats.chat("Hello")
    (chats.folder() / "conversations.db.corrupt-20260101T000000000000Z").write_text(SECRET)
    await chats.ask("DELETE", f"{ALL}?user_id=user")
    assert holds(folder, [SECRET]) == {}


async def test_who_is_to_be_forgotten_must_be_said(chats):
    await chats.chat("Hello")
    assert error_of(await chats.ask("DELETE", ALL)) == (400, "missing_user_id")
    assert error_of(await chats.ask("DELETE", f"{ALL}?user_id=")) == (422, "validation_error")
    twice = await chats.ask("DELETE", f"{ALL}?user_id=user&user_id=otto")
    assert error_of(twice) == (400, "repeated_parameter")
    assert await chats.ids() == ["tea"]


async def test_of_a_user_who_never_said_anything_nothing_is_made(chats):
    told = succeeded(await chats.ask("DELETE", f"{ALL}?user_id=nobody"))
    assert (told["success"], told["conversations"], told["messages"]) == (True, 0, 0)
    assert not chats.folder("nobody").parent.exists()


async def test_a_user_who_talks_on_meanwhile_is_forgotten_up_to_a_moment(chats):
    for id in ("a", "b"):
        await chats.chat("Hello", id=id)
    deleting = chats.ask("DELETE", f"{ALL}?user_id=user")
    answer, *_ = await asyncio.gather(deleting, *(chats.chat("Again", id=id) for id in ("a", "b", "c")))
    assert answer.status == 200
    for id in ("a", "b", "c"):
        assert texts_of(await chats.lines(id)) in ([], ["Again", "Understood."])
    assert succeeded(await chats.ask("DELETE", f"{ALL}?user_id=user"))["success"]
    assert not chats.folder().exists()


# --- all memories of a user


async def forget_memories(chats: Chats, user: str = "user") -> int:
    found: int = succeeded(await chats.ask("DELETE", f"/api/memories?user_id={user}"))["deleted"]
    return found


async def add_later(chats: Chats, words: str, **more: object) -> str:
    """The id of its event."""
    message = {"role": "user", "content": f"I own a {words}"}
    body = {"messages": [message], "user_id": "user", "async_mode": True, **more}
    found: str = (await chats.post("/api/memories", body))["event_id"]
    return found


async def test_nothing_is_learned_of_what_waited_as_the_memories_were_forgotten(chats, learning):
    learning.otherwise = DOWN
    other = chats.anew()
    await chats.chat(f"I own a {STAYING}", memoryEnabled=True)
    await chats.chat(f"I own a {STAYING} too", id=None, memoryEnabled=True)
    await add_later(chats, STAYING)
    await add_later(chats, STAYING, run_id="tea", agent_id="cook", app_id="kitchen")
    await add_later(chats, TANDEM, user_id="otto")
    await add_later(other, TANDEM)
    assert await forget_memories(chats) == 0
    waiting = [
        job
        for queue in ("", queue_of(Scope(project=chats.project, user="user")))
        for job in await chats.parts.upkeep.jobs.stored_jobs(queue)
    ]
    assert STAYING not in str(waiting)
    learning.otherwise = None
    await learned(chats, f"I own a {TANDEM}", user="otto")
    await learned(other, f"I own a {TANDEM}")
    await chats.chat("I like tea", id="new", memoryEnabled=True)
    await learned(chats, "I like tea")  # and turns are looked into in their order
    assert STAYING in str(await chats.lines())


async def event_of_an_add(chats: Chats, words: str, **more: object) -> str:
    """The id of an add that was done behind its answer."""
    event_id = await add_later(chats, words, **more)
    async with asyncio.timeout(60):
        while (await chats.get(f"/api/events/{event_id}"))["status"] != "SUCCEEDED":  # noqa: ASYNC110
            await asyncio.sleep(0.002)
    return event_id


@pytest.mark.parametrize("what", ["all memories", "a conversation", "a session of its own"])
async def test_the_event_of_an_add_quotes_nothing_that_was_forgotten(chats, folder, what):
    await chats.chat("Hello")
    if what == "a session of its own":
        gone = await event_of_an_add(chats, STAYING, metadata={"session_id": "tea"})
    else:
        gone = await event_of_an_add(chats, STAYING, run_id="tea")
    other = await event_of_an_add(chats, TANDEM, user_id="otto")
    if what == "all memories":
        await forget_memories(chats)
    else:
        await forget(chats)
    assert error_of(await chats.ask("GET", f"/api/events/{gone}")) == (404, "event_not_found")
    told = await chats.get(f"/api/events/{other}")
    assert [each["memory"] for each in told["results"]] == [f"I own a {TANDEM}"]
    kept = [job.result for job in await chats.parts.upkeep.jobs.stored_jobs("")]
    assert STAYING not in str(kept)


@pytest.mark.parametrize("how", ["a turn", "an add"])
async def test_what_is_being_learned_as_the_memories_are_forgotten_is_waited_for_and_goes(chats, learning, how):
    learning.asked.clear()
    learning.otherwise = Answer(text=orjson.dumps({"facts": [f"Owns a {STAYING}"]}).decode(), silent=True)
    if how == "a turn":
        await chats.chat(f"I own a {STAYING}", memoryEnabled=True)
    else:
        await add_later(chats, STAYING)
    await learning.asked.wait()
    forgetting = asyncio.create_task(forget_memories(chats))
    await chats.get("/health")
    assert not forgetting.done()
    chats.llm.release()
    assert await forgetting == 1
    assert await facts(chats) == []


@pytest.mark.asyncio(loop_scope="function")
async def test_facts_that_the_model_inside_learned_go_too(tmp_path):
    offline = {"llm.provider": "offline", "embedding.provider": "builtin"}
    async with ScriptedLLM() as llm, opened_chats(tmp_path, llm, **offline) as chats:
        await chats.chat("My dog is called Rover and I live in Graz.", memoryEnabled=True)
        async with asyncio.timeout(60):
            while not await facts(chats):  # noqa: ASYNC110
                await asyncio.sleep(0.002)
        assert (await forget(chats))["memories"] >= 1
        assert (await facts(chats), holds(tmp_path, ["Rover"])) == ([], {})


async def _read(chats: Chats, recorded) -> list[str]:
    happened = await events_of(partial(chats.parts.chats.recorder.answer, recorded))
    return [event.text for event in happened if hasattr(event, "text")]
