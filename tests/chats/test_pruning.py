"""Old conversations go by themselves: at the start, and once a day, but for those that are to be kept."""

import asyncio
import time
from datetime import UTC, datetime, timedelta

import pytest
import structlog

from mnemoir.chats.clock_trust import ClockTrust
from mnemoir.chats.conversations import Conversations
from mnemoir.chats.expected_folders import ExpectedFolders
from mnemoir.chats.pruning import Pruning
from mnemoir.conversations.attachments.attachments import Attachments
from mnemoir.conversations.memory_manager import MemoryManager
from mnemoir.core.clock_guard import elapsed_s
from mnemoir.core.conversations import Message, MessageRecord, SessionMetadata
from mnemoir.core.data_directory import SESSIONS_FILE
from mnemoir.core.errors import Conflict
from mnemoir.core.scope import Scope
from mnemoir.ports.holdings import OpenHolding
from mnemoir.storage.conversations.sqlite_sessions import MemoryStorage
from mnemoir.storage.sql.ageing import SqlStamps, Stamp
from mnemoir.storage.sql.catalogue import Catalogue
from mnemoir.storage.sql.conversation_marks import ConversationMarks
from mnemoir.storage.sqlite import open_database
from mnemoir.storage.sqlite.directory_identity import DirectoryIdentity

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
async def database(tmp_path):
    opened = open_database(tmp_path / "data" / "mnemoir.db")
    yield opened
    await opened.aclose()


@pytest.fixture
async def stamps(database, clock):
    """As of a server that ran an hour ago, when the clock was right."""
    stamps = SqlStamps(database)
    await stamps.write(Stamp.CLOCK, clock() - timedelta(hours=1))
    return stamps


@pytest.fixture
async def conversations(tmp_path, database):
    root = tmp_path / "conversations"
    opened = Conversations(
        root,
        lambda folder: MemoryManager(folder / SESSIONS_FILE),
        Catalogue(database),
        expected=ExpectedFolders(ConversationMarks(database), DirectoryIdentity(tmp_path)),
    )
    yield opened
    await opened.aclose()


@pytest.fixture
def pruning_of(conversations, stamps, clock):
    """The pruning of a server that starts now."""

    def start(days: int | None = 30) -> Pruning:
        holding = OpenHolding(name="conversation", prune=conversations.prune)
        return Pruning([holding], days, ClockTrust(stamps, clock, clock.elapsed_s), clock)

    return start


def talk(conversations: Conversations, scope: Scope, id: str, *, days_ago: float, **custom: object) -> None:
    """A conversation that was last used then."""
    at = datetime.now(UTC) - timedelta(days=days_ago)
    with MemoryStorage(conversations.folder_of(scope) / SESSIONS_FILE, clock=lambda: at) as storage:
        storage.create_session(id, "", SessionMetadata(custom=custom))
        storage.save_message(MessageRecord(session_id=id, role="user", content=f"of {id}"))


async def ids(conversations: Conversations, scope: Scope = MIRA) -> list[str]:
    async with conversations.of(scope) as own:
        return sorted(record.id for record in own.manager.list_sessions(100))


async def test_what_was_not_used_for_so_many_days_goes_for_every_user(conversations, pruning_of):
    talk(conversations, MIRA, "old", days_ago=31)
    talk(conversations, MIRA, "new", days_ago=29)
    talk(conversations, OTTO, "old", days_ago=300)
    assert await pruning_of(30).prune_if_due() == 2
    assert (await ids(conversations), await ids(conversations, OTTO)) == (["new"], [])


async def test_what_is_to_be_kept_stays(conversations, pruning_of):
    talk(conversations, MIRA, "kept", days_ago=300, keep=True)
    talk(conversations, MIRA, "not kept", days_ago=300, keep=False)
    await pruning_of(30).prune_if_due()
    assert await ids(conversations) == ["kept"]


async def test_attachments_and_node_memories_go_with_it(conversations, pruning_of):
    talk(conversations, MIRA, "old", days_ago=31)
    async with conversations.of(MIRA) as own:
        own.node_parts.objects.save("node_memory/app/old/node.json", b"{}")
        own.node_parts.objects.save("node_memory/app/new/node.json", b"{}")
        own.node_parts.objects.save(f"attachments/old/{'0' * 64}.bin", b"tea")
        await pruning_of(30).prune_if_due()
        assert [entry.key for entry in own.node_parts.objects.scan("")] == ["node_memory/app/new/node.json"]
        assert Attachments(own.node_parts.objects).delete("old") == 0


async def test_it_is_done_once_a_day_however_often_the_server_is_started(conversations, clock, pruning_of):
    talk(conversations, MIRA, "a", days_ago=31)
    assert await pruning_of(30).prune_if_due() == 1
    talk(conversations, MIRA, "b", days_ago=31)
    assert await pruning_of(30).prune_if_due() == 0
    clock.passed_s = DAY_S - 60
    before = pruning_of(30)
    assert (await before.expire_if_due(), await before.prune_if_due()) == ({}, 0)
    clock.passed_s = DAY_S + 60
    assert await pruning_of(30).prune_if_due() == 1
    assert await ids(conversations) == []


async def test_a_last_run_by_a_clock_that_was_ahead_stands_in_no_way(conversations, clock, stamps, pruning_of):
    talk(conversations, MIRA, "old", days_ago=31)
    for stamp in Stamp:
        await stamps.write(stamp, clock() + timedelta(days=400))
    pruning = pruning_of(30)
    assert await pruning.prune_if_due() == 0
    clock.passed_s = 3600
    assert await pruning.prune_if_due() == 1


async def test_nothing_goes_for_an_hour_when_the_clock_was_moved_by_more_than_a_day(conversations, clock, pruning_of):
    talk(conversations, MIRA, "first", days_ago=31)
    pruning = pruning_of(30)
    assert await pruning.prune_if_due() == 1
    talk(conversations, MIRA, "new", days_ago=1)
    clock.passed_s, clock.set_s = DAY_S + 60, 300 * DAY_S
    with structlog.testing.capture_logs() as log:
        assert await pruning.prune_if_due() == await pruning.prune_if_due() == 0
        with pytest.raises(Conflict, match=r"the clock was moved by 300\.0 days"):
            await pruning.run(dry_run=False)
        clock.set_s = 3600  # set right, but for an hour
        assert await pruning.prune_if_due() == 0
        clock.passed_s += 3600
        assert await pruning.prune_if_due() == 0
    assert [line["cause"] for line in log] == [
        "the clock was moved by 300.0 days",
        "the clock was moved by -300.0 days",
    ]
    assert await ids(conversations) == ["new"]


async def test_after_a_long_rest_it_is_told_once_and_done_an_hour_later(conversations, clock, stamps, pruning_of):
    talk(conversations, MIRA, "old", days_ago=31)
    await stamps.write(Stamp.CLOCK, clock() - timedelta(days=7))
    pruning = pruning_of(30)
    with structlog.testing.capture_logs() as log:
        assert await pruning.prune_if_due() == await pruning.prune_if_due() == 0
        clock.passed_s = 3600
        assert await pruning.prune_if_due() == 1
    (told,) = [line["cause"] for line in log if line["log_level"] == "warning"]
    assert told.startswith("the clock is 7.0 days after ")


async def test_a_first_run_ever_waits_for_an_hour(conversations, clock, database):
    talk(conversations, MIRA, "old", days_ago=31)
    holding = OpenHolding(name="conversation", prune=conversations.prune)
    stamps = SqlStamps(database)
    pruning = Pruning([holding], 30, ClockTrust(stamps, clock, clock.elapsed_s), clock)
    assert await pruning.prune_if_due() == 0
    clock.passed_s = 3599
    assert await pruning.prune_if_due() == 0
    clock.passed_s = 3600
    assert await pruning.prune_if_due() == 1


async def test_whoever_asks_for_it_after_a_rest_waits_too_and_is_told(conversations, clock, stamps, pruning_of):
    talk(conversations, MIRA, "old", days_ago=31)
    await stamps.write(Stamp.CLOCK, clock() - timedelta(days=7))
    pruning = pruning_of(30)
    assert await pruning.run(dry_run=True) == {"conversations": 1}
    with pytest.raises(Conflict, match=r"^Nothing was deleted: the clock is 7\.0 days after .* Set it right"):
        await pruning.run(dry_run=False)
    clock.passed_s = 3600
    assert await pruning.run(dry_run=False) == {"conversations": 1}


def test_time_that_passed_never_goes_back():
    assert elapsed_s() <= elapsed_s()


async def test_where_nobody_has_said_anything_nothing_is_made(conversations, pruning_of):
    assert await pruning_of(30).prune_if_due() == 0
    assert not conversations.root.exists()


async def test_without_days_nothing_is_ever_pruned(conversations, pruning_of):
    talk(conversations, MIRA, "old", days_ago=10_000)
    pruning = pruning_of(None)
    pruning.start()
    assert await pruning.prune_if_due() == 0
    await pruning.aclose()
    assert (await ids(conversations), await pruning.last_run_at()) == (["old"], None)


async def test_a_user_whose_files_cannot_be_used_stops_nobody_else_s(conversations, pruning_of):
    (conversations.folder_of(MIRA) / SESSIONS_FILE).mkdir(parents=True)
    talk(conversations, OTTO, "old", days_ago=31)
    assert await pruning_of(30).prune_if_due() == 1
    assert await ids(conversations, OTTO) == []


async def test_it_begins_with_the_start_and_what_is_begun_is_ended_whole(conversations, pruning_of):
    names = [f"talk {number}" for number in range(40)]
    for name in names:
        talk(conversations, MIRA, name, days_ago=31)
    pruning = pruning_of(30)
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


async def test_what_ends_by_itself_does_so_without_a_setting_but_not_by_a_clock_that_was_moved(clock, stamps):
    swept = []

    async def expire(dry_run: bool) -> dict[str, int]:
        return {"proposals": 1}

    async def sweep() -> None:
        swept.append(clock())

    holding = OpenHolding(name="proposal", expire=expire, sweep=sweep)
    pruning = Pruning([holding], None, ClockTrust(stamps, clock, clock.elapsed_s), clock)
    assert (await pruning.expire_if_due(), len(swept)) == ({"proposals": 1}, 1)
    clock.set_s = 100 * DAY_S
    assert (await pruning.expire_if_due(), len(swept)) == ({}, 1)
    clock.passed_s = 3600
    assert (await pruning.expire_if_due(), len(swept)) == ({"proposals": 1}, 2)
