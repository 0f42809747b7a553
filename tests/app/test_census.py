"""Conversations of all users are counted aside: no file is opened twice without need, and none is in the way."""

import pytest

from mnemoir.app.conversations import SESSIONS_FILE, Conversations
from mnemoir.conversations.log.messages import Message
from mnemoir.conversations.memory_manager import MemoryManager
from mnemoir.core.scope import Scope
from mnemoir.storage.conversations.census import Census, Counted

SCOPES = [Scope(project="demo", user=user) for user in ("mira", "otto")]


@pytest.fixture
async def conversations(tmp_path):
    made = Conversations(tmp_path / "talk", lambda folder: MemoryManager(folder / SESSIONS_FILE))
    yield made
    await made.aclose()


async def say(conversations, scope, *words) -> None:
    async with conversations.of(scope) as own:
        own.manager.append_messages("tea", [Message("user", text) for text in words])


async def test_what_all_users_have_is_counted_while_their_files_are_open(conversations):
    await say(conversations, SCOPES[0], "I row.", " ")
    await say(conversations, SCOPES[1], "I walk.")
    expected = Counted(conversations=2, messages=3, embeddable=2, embedded=0)
    assert await conversations.count(Census(None)) == expected


async def test_a_file_is_counted_again_only_after_it_changed(conversations):
    census = Census(None)
    await say(conversations, SCOPES[0], "I row.")
    await conversations.aclose()
    file = conversations.folder_of(SCOPES[0]) / SESSIONS_FILE
    assert census.known(file) is None
    await conversations.count(census)
    assert census.known(file) == Counted(conversations=1, messages=1, embeddable=1, embedded=0)
    assert sorted(path.name for path in file.parent.glob(f"{SESSIONS_FILE}*")) == [SESSIONS_FILE]
    await say(conversations, SCOPES[0], "And swim.")
    assert (await conversations.count(census)).messages == 2


async def test_a_damaged_file_counts_as_empty_and_is_left_as_it_is(conversations):
    await say(conversations, SCOPES[0], "I row.")
    broken = conversations.folder_of(SCOPES[1]) / SESSIONS_FILE
    broken.parent.mkdir(parents=True)
    broken.write_bytes(b"no database" * 100)
    assert (await conversations.count(Census(None))).messages == 1
    assert broken.read_bytes() == b"no database" * 100


async def test_a_user_who_is_gone_is_forgotten(conversations):
    census = Census(None)
    await say(conversations, SCOPES[0], "I row.")
    async with conversations.of(SCOPES[0]) as own:
        own.manager.delete_session("tea")
    await conversations.count(census)
    assert await conversations.remove_empty(SCOPES[0])
    assert await conversations.count(census) == Counted()
