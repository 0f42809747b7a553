"""Old conversations go by themselves: at the start, and once a day, but for those that are to be kept."""

import asyncio
import os
import stat
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import structlog

from mnemoir.chats.conversations import Conversations
from mnemoir.chats.pruning import STAMP_FILE, Pruning, elapsed_s
from mnemoir.conversations.attachments.attachments import Attachments
from mnemoir.conversations.memory_manager import MemoryManager
from mnemoir.core.conversations import Message, MessageRecord, SessionMetadata
from mnemoir.core.data_directory import SESSIONS_FILE
from mnemoir.core.scope import Scope
from mnemoir.ports.holdings import OpenHolding
from mnemoir.storage.conversations.sqlite_sessions import MemoryStorage
from mnemoir.storage.sql.catalogue import Catalogue
from mnemoir.storage.sqlite import open_database

MIRA, OTTO = Scope(project="tea", user="mira"), Scope(project="tea", user="otto")
DAY_S = 24 * 3600


class Clock:
    """Shows the real time, moved by so many seconds; `passed_s` of them passed, by the rest it was set."""

    def __init__(self) -> None:
        self.passed_s = self.set_s = 0.0

    def __call__(self) -> datetime:
        return datetime.fromtimestamp(time.time() + self.passed_s + self.set_s, UTC)

    def elapsed_s(self) -> float:
        return time.time() + self.passed_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def conversations(tmp_path):
    database = open_database(tmp_path / "data" / "mnemoir.db")
    root = tmp_path / "conversations"
    opened = Conversations(root, lambda folder: MemoryManager(folder / SESSIONS_FILE), Catalogue(database))
    yield opened
    await opened.aclose()
    await database.aclose()


def pruning_of(conversations: Conversations, days: int | None, clock: Clock) -> Pruning:
    holding = OpenHolding(name="conversation", prune=conversations.prune, ageing=conversations.ageing)
    return Pruning([holding], conversations.root, days, clock, clock.elapsed_s)


def talk(conversations: Conversations, scope: Scope, id: str, *, days_ago: float, **custom: object) -> None:
    """A conversation that was last used then."""
    at = datetime.now(UTC) - timedelta(days=days_ago)
    with MemoryStorage(conversations.folder_of(scope) / SESSIONS_FILE, clock=lambda: at) as storage:
        storage.create_session(id, "", SessionMetadata(custom=custom))
        storage.save_message(MessageRecord(session_id=id, role="user", content=f"of {id}"))


async def ids(conversations: Conversations, scope: Scope = MIRA) -> list[str]:
    async with conversations.of(scope) as own:
        return sorted(record.id for record in own.manager.list_sessions(100))


def stamp_of(conversations: Conversations) -> Path:
    return conversations.root / STAMP_FILE


async def test_what_was_not_used_for_so_many_days_goes_for_every_user(conversations, clock):
    talk(conversations, MIRA, "old", days_ago=31)
    talk(conversations, MIRA, "new", days_ago=29)
    talk(conversations, OTTO, "old", days_ago=300)
    assert await pruning_of(conversations, 30, clock).prune_if_due() == 2
    assert (await ids(conversations), await ids(conversations, OTTO)) == (["new"], [])


async def test_what_is_to_be_kept_stays(conversations, clock):
    talk(conversations, MIRA, "kept", days_ago=300, keep=True)
    talk(conversations, MIRA, "not kept", days_ago=300, keep=False)
    await pruning_of(conversations, 30, clock).prune_if_due()
    assert await ids(conversations) == ["kept"]


async def test_attachments_and_node_memories_go_with_it(conversations, clock):
    talk(conversations, MIRA, "old", days_ago=31)
    async with conversations.of(MIRA) as own:
        own.node_parts.objects.save("node_memory/app/old/node.json", b"{}")
        own.node_parts.objects.save("node_memory/app/new/node.json", b"{}")
        own.node_parts.objects.save(f"attachments/old/{'0' * 64}.bin", b"tea")
        await pruning_of(conversations, 30, clock).prune_if_due()
        assert [entry.key for entry in own.node_parts.objects.scan("")] == ["node_memory/app/new/node.json"]
        assert Attachments(own.node_parts.objects).delete("old") == 0


async def test_it_is_done_once_a_day_however_often_the_server_is_started(conversations, clock):
    talk(conversations, MIRA, "a", days_ago=31)
    assert await pruning_of(conversations, 30, clock).prune_if_due() == 1
    talk(conversations, MIRA, "b", days_ago=31)
    assert await pruning_of(conversations, 30, clock).prune_if_due() == 0
    clock.passed_s = DAY_S - 60
    assert await pruning_of(conversations, 30, clock).prune_if_due() == 0
    clock.passed_s = DAY_S + 60
    assert await pruning_of(conversations, 30, clock).prune_if_due() == 1
    assert await ids(conversations) == []


async def test_nothing_goes_while_the_clock_is_behind_the_last_run(conversations, clock):
    talk(conversations, MIRA, "old", days_ago=31)
    pruning = pruning_of(conversations, 30, clock)
    stamp_of(conversations).touch()
    future = time.time() + 400 * DAY_S  # when the clock was ahead
    os.utime(stamp_of(conversations), (future, future))
    assert await pruning.prune_if_due() == await pruning.prune_if_due() == 0
    os.utime(stamp_of(conversations), (0, 0))
    assert await ids(conversations) == ["old"]


async def test_nothing_goes_while_the_clock_is_behind_what_was_used_last(conversations, clock):
    talk(conversations, MIRA, "old", days_ago=31)
    talk(conversations, OTTO, "of a later day", days_ago=-1)
    assert await pruning_of(conversations, 30, clock).prune_if_due() == 0
    clock.passed_s = 2 * DAY_S
    assert await pruning_of(conversations, 30, clock).prune_if_due() == 1


async def test_nothing_goes_when_the_clock_was_set_ahead_by_more_than_a_day(conversations, clock):
    talk(conversations, MIRA, "first", days_ago=31)
    pruning = pruning_of(conversations, 30, clock)
    assert await pruning.prune_if_due() == 1
    talk(conversations, MIRA, "old", days_ago=31)
    clock.passed_s, clock.set_s = DAY_S + 60, 300 * DAY_S
    with structlog.testing.capture_logs() as log:
        assert await pruning.prune_if_due() == await pruning.prune_if_due() == 0
    assert [(line["count"], "clock was moved" in line["cause"]) for line in log] == [(1, True)]
    clock.set_s = 3600  # a clock may be corrected
    assert await pruning.prune_if_due() == 1


async def test_after_a_long_rest_it_is_told_once_and_done_an_hour_later(conversations, clock):
    talk(conversations, MIRA, "old", days_ago=31)
    week_ago = time.time() - 7 * DAY_S
    stamp_of(conversations).touch()
    os.utime(stamp_of(conversations), (week_ago, week_ago))
    pruning = pruning_of(conversations, 30, clock)
    with structlog.testing.capture_logs() as log:
        assert await pruning.prune_if_due() == await pruning.prune_if_due() == 0
        clock.passed_s = 3600
        assert await pruning.prune_if_due() == 1
    assert [line["count"] for line in log if line["log_level"] == "warning"] == [1]


def test_time_that_passed_never_goes_back():
    assert elapsed_s() <= elapsed_s()


async def test_where_nobody_has_said_anything_nothing_is_made(conversations, clock):
    assert await pruning_of(conversations, 30, clock).prune_if_due() == 0
    assert not conversations.root.exists()


async def test_without_days_nothing_is_ever_pruned(conversations, clock):
    talk(conversations, MIRA, "old", days_ago=10_000)
    pruning = pruning_of(conversations, None, clock)
    pruning.start()
    assert await pruning.prune_if_due() == 0
    await pruning.aclose()
    assert (await ids(conversations), stamp_of(conversations).exists()) == (["old"], False)


async def test_the_note_of_the_last_time_is_for_nobody_else(conversations, clock):
    talk(conversations, MIRA, "old", days_ago=31)
    await pruning_of(conversations, 30, clock).prune_if_due()
    assert stat.S_IMODE(stamp_of(conversations).stat().st_mode) == 0o600


async def test_a_user_whose_files_cannot_be_used_stops_nobody_else_s(conversations, clock):
    (conversations.folder_of(MIRA) / SESSIONS_FILE).mkdir(parents=True)
    talk(conversations, OTTO, "old", days_ago=31)
    assert await pruning_of(conversations, 30, clock).prune_if_due() == 1
    assert await ids(conversations, OTTO) == []


async def test_it_begins_with_the_start_and_what_is_begun_is_ended_whole(conversations, clock):
    names = [f"talk {number}" for number in range(40)]
    for name in names:
        talk(conversations, MIRA, name, days_ago=31)
    pruning = pruning_of(conversations, 30, clock)
    pruning.start()
    async with asyncio.timeout(60):
        while len(await ids(conversations)) == len(names):  # noqa: ASYNC110  # nothing tells it
            await asyncio.sleep(0.001)
    await pruning.aclose()
    left = await ids(conversations)
    async with conversations.of(MIRA) as own:
        assert [own.manager.get_message_count(name) for name in left] == [1] * len(left)


async def test_one_that_was_used_since_it_was_found_to_be_old_stays(conversations):
    """It is used while those before it are being removed."""
    for number in range(20):
        talk(conversations, MIRA, f"talk {number:02}", days_ago=50 - number)
    async with conversations.of(MIRA) as own:
        pruning = asyncio.create_task(conversations.prune(10))
        async with asyncio.timeout(60):
            while own.manager.session_exists("talk 00"):  # noqa: ASYNC110
                await asyncio.sleep(0)
        own.manager.save_message("talk 19", Message("user", "Still here"))
        await pruning
    assert await ids(conversations) == ["talk 19"]


async def test_what_ends_by_itself_does_so_without_a_setting_but_not_by_a_clock_that_was_moved(conversations, clock):
    async def forget(scope: Scope) -> dict[str, int]:
        return {}

    async def expire(dry_run: bool) -> dict[str, int]:
        return {"proposals": 1}

    holding = OpenHolding(name="proposal", forget=forget, expire=expire)
    pruning = Pruning([holding], conversations.root, None, clock, clock.elapsed_s)
    clock.set_s = 100 * DAY_S
    assert await pruning.expire() == {}
    clock.set_s, clock.passed_s = 0.0, 100 * DAY_S
    assert await pruning.expire() == {"proposals": 1}
