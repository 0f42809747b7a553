"""The catalogue answers for all users and opens no file twice without need; the files are the truth."""

import asyncio
import os
import signal
import sys
from contextlib import asynccontextmanager
from datetime import timedelta

import apsw
import pytest

from mnemoir.chats.conversations import Conversations
from mnemoir.chats.expected_folders import ExpectedFolders
from mnemoir.conversations.memory_manager import MemoryManager
from mnemoir.core.clock import utc_now
from mnemoir.core.conversations import Message
from mnemoir.core.data_directory import SESSIONS_FILE
from mnemoir.core.scope import Scope
from mnemoir.ports.holdings import DAILY_DAYS
from mnemoir.storage.sql.catalogue import Catalogue
from mnemoir.storage.sql.conversation_marks import ConversationMarks
from mnemoir.storage.sqlite import open_database
from mnemoir.storage.sqlite.directory_identity import DirectoryIdentity
from tests.acceptance.conversation_kit import holds

MIRA, OTTO = (Scope(project="demo", user=user) for user in ("mira", "otto"))
NOTHING = {"conversations": 0, "messages": 0, "embeddable": 0, "embedded": 0}


@asynccontextmanager
async def opened(folder):
    database = open_database(folder / "data" / "mnemoir.db")
    made = Conversations(
        folder / "talk",
        lambda folder: MemoryManager(folder / SESSIONS_FILE),
        Catalogue(database),
        expected=ExpectedFolders(ConversationMarks(database), DirectoryIdentity(folder)),
    )
    yield made
    await made.aclose()
    await database.aclose()


@pytest.fixture
async def conversations(tmp_path):
    async with opened(tmp_path) as made:
        yield made


async def say(conversations, scope, *words, id="tea") -> None:
    async with conversations.of(scope) as own:
        own.manager.append_messages(id, [Message("user", text) for text in words])


def put_in_the_way(conversations: Conversations, scope: Scope) -> bytes:
    """A file that nobody can open."""
    broken = conversations.folder_of(scope) / SESSIONS_FILE
    broken.parent.mkdir(parents=True, exist_ok=True)
    broken.write_bytes(b"no database" * 100)
    return broken.read_bytes()


async def test_what_all_users_have_is_counted_while_their_files_are_open(conversations):
    await say(conversations, MIRA, "I row.", " ")
    await say(conversations, OTTO, "I walk.")
    assert await conversations.counts() == {"conversations": 2, "messages": 3, "embeddable": 2, "embedded": 0}


async def test_what_is_said_in_an_open_file_counts_the_next_time(conversations):
    await say(conversations, MIRA, "I row.")
    async with conversations.of(MIRA) as own:
        assert (await conversations.counts())["messages"] == 1
        own.manager.append_messages("tea", [Message("user", "And swim.")])
        assert (await conversations.counts())["messages"] == 2
    assert (await conversations.counts())["messages"] == 2


async def said_on(conversations, scope, *times) -> None:
    """Messages that stand in the user's file as said at these times."""
    await say(conversations, scope, *(f"At {at}." for at in times))
    connection = apsw.Connection(str(conversations.folder_of(scope) / SESSIONS_FILE))
    for at in times:
        connection.execute("UPDATE messages SET created_at = ? WHERE content = ?", (at, f"At {at}."))
    connection.close()


async def test_messages_are_counted_by_their_day_while_these_are_recent(conversations):
    today = utc_now().date()
    days = [(today - timedelta(days=ago)).isoformat() for ago in (2, 3, DAILY_DAYS + 1)]
    await said_on(conversations, MIRA, *(f"{day}T23:59:59.{at}00000" for day in days for at in (1, 2)))
    await said_on(conversations, OTTO, f"{days[0]}T00:00:00")
    assert await conversations.messages_by_day(today - timedelta(days=9)) == {days[1]: 2, days[0]: 3}
    assert await conversations.messages_by_day(today - timedelta(days=2)) == {days[0]: 3}
    assert await conversations.messages_by_day(today - timedelta(days=90)) == {days[1]: 2, days[0]: 3}
    async with conversations.of(MIRA) as own:
        own.manager.delete_session("tea")
    assert await conversations.messages_by_day(today - timedelta(days=9)) == {days[0]: 1}


async def others_have(conversations, scope, id):
    return bool(await conversations.folders_with(id) - {conversations.folder_of(scope)})


async def test_a_file_that_has_not_changed_is_not_opened_again(tmp_path, monkeypatch):
    async with opened(tmp_path) as before:
        await say(before, MIRA, "I row.")
    async with opened(tmp_path) as between:
        await between.counts()
    looked_at = []
    monkeypatch.setattr(apsw, "connection_hooks", [lambda connection: looked_at.append(connection.filename)])
    async with opened(tmp_path) as after:
        assert (await after.counts())["messages"] == 1
        assert await others_have(after, OTTO, "tea")
        assert not await others_have(after, MIRA, "tea")
        assert await after.prune(30) == 0
    assert [name for name in looked_at if name.endswith(SESSIONS_FILE)] == []


async def test_an_open_file_is_read_again_only_when_it_was_written_to(conversations, monkeypatch):
    await say(conversations, MIRA, "I row.")
    async with conversations.of(MIRA) as own:
        for file in own.folder.glob(f"{SESSIONS_FILE}*"):
            os.utime(file, (0, 0))  # written to a moment ago, it would be read once more
        await conversations.counts()
        looked_at = []
        monkeypatch.setattr(apsw, "connection_hooks", [lambda connection: looked_at.append(connection.filename)])
        assert (await conversations.counts())["messages"] == 1
        # threads that read the catalogue open it when they are first used
        assert [file for file in looked_at if file.endswith(SESSIONS_FILE)] == []
        own.manager.append_messages("tea", [Message("user", "And swim.")])
        assert (await conversations.counts())["messages"] == 2


async def test_a_conversation_of_another_user_is_found_by_its_id(conversations):
    await say(conversations, MIRA, "I row.", id="tea")
    await say(conversations, OTTO, "I walk.", id="coffee & milk")
    asked = [(MIRA, "tea"), (OTTO, "tea"), (MIRA, "coffee & milk"), (MIRA, "milk")]
    assert [await others_have(conversations, scope, id) for scope, id in asked] == [False, True, True, False]
    async with conversations.of(MIRA) as own:
        own.manager.delete_session("tea")
    assert not await others_have(conversations, OTTO, "tea")


async def test_a_damaged_file_counts_as_empty_and_is_left_as_it_is(conversations):
    await say(conversations, MIRA, "I row.")
    written = put_in_the_way(conversations, OTTO)
    assert (await conversations.counts())["messages"] == 1
    assert (conversations.folder_of(OTTO) / SESSIONS_FILE).read_bytes() == written


async def test_a_file_that_cannot_be_looked_at_is_not_taken_for_one_without_the_conversation(conversations):
    put_in_the_way(conversations, OTTO)
    assert await conversations.folders_with("tea") == {conversations.folder_of(OTTO)}


async def test_a_user_who_was_forgotten_is_nowhere(conversations, tmp_path):
    await say(conversations, MIRA, "I row.")
    await conversations.counts()
    assert holds(tmp_path / "data", ["demo/mira"])
    async with conversations.of(MIRA) as own:
        own.manager.delete_session("tea")
    assert await conversations.remove_empty(MIRA)
    assert await conversations.counts() == NOTHING
    assert holds(tmp_path / "data", ["demo/mira"]) == {}


async def test_the_id_of_a_conversation_is_not_written_down(conversations, tmp_path):
    await say(conversations, MIRA, "I row.", id="zanzibarquince")
    await conversations.counts()
    assert holds(tmp_path / "data", ["zanzibarquince"]) == {}


async def test_what_was_put_there_while_nobody_ran_is_found_and_what_was_taken_away_is_gone(tmp_path):
    async with opened(tmp_path) as before:
        await say(before, MIRA, "I row.")
        assert (await before.counts())["conversations"] == 1
    talk = tmp_path / "talk" / "demo"
    (talk / "mira").rename(talk / "otto")
    async with opened(tmp_path) as after:
        assert (await after.counts())["conversations"] == 1
        assert await others_have(after, MIRA, "tea")
        assert not await others_have(after, OTTO, "tea")


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from mnemoir.core.scope import Scope
from tests.chats.test_catalogue import opened, say

async def main(folder):
    async with opened(folder) as conversations:
        await say(conversations, Scope(project="demo", user="mira"), "I row.")
        await conversations.counts()
        await say(conversations, Scope(project="demo", user="mira"), "I swim.", id="lake")
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main(Path(sys.argv[1])))
"""


@pytest.mark.slow
async def test_a_kill_between_the_file_and_the_catalogue_is_made_good_by_the_next_start(tmp_path):
    killed = await asyncio.create_subprocess_exec(sys.executable, "-c", KILLED, str(tmp_path))
    await killed.wait()
    assert killed.returncode == -signal.SIGKILL
    async with opened(tmp_path) as after:
        assert await others_have(after, OTTO, "lake")
        assert (await after.counts())["conversations"] == 2
