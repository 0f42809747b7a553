"""Files of records that come and go: one put in the place of another, removed, put back, or never there."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mnemoir.core.discussions import Discussion
from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.discussions.record_store import SqliteRecordStore
from tests.storage.discussions.record_words import asked, file_of, record, source, their_file_of_2026

DIES = """
import apsw, os, sys
connection = apsw.Connection(sys.argv[1])
connection.execute("PRAGMA cache_size = 1; BEGIN; CREATE TABLE IF NOT EXISTS more (text)")
for n in range(2000):
    connection.execute("INSERT INTO more VALUES (?)", ("x" * 500,))
os.kill(os.getpid(), 9)
"""


@pytest.fixture
def tea(tmp_path):
    return Discussion(root=tmp_path / "discussions", id="tea")


@pytest.fixture
async def store():
    store = SqliteRecordStore()
    yield store
    await store.aclose()


async def hashes(store, discussion):
    return [block.hash.removeprefix("hash of ") for block in await store.blocks(discussion)]


async def found(store, discussion, *keywords):
    return sorted(one.text for one in await store.search(discussion, keywords, limit=100))


def killed_while_writing(path):
    """The journal that a killed writer leaves beside a file."""
    assert subprocess.run([sys.executable, "-c", DIES, path], check=False).returncode == -signal.SIGKILL
    journal = path.with_name(path.name + "-journal")
    assert journal.stat().st_size
    return journal


def held_open(folder):
    """How many files below a folder this process has open, those without a name any more too."""
    links = []
    for descriptor in Path("/proc/self/fd").iterdir():
        try:
            links.append(os.readlink(descriptor))
        except FileNotFoundError:  # that of the listing itself
            continue
    return len([link for link in links if link.startswith(f"{folder}/")])


async def test_the_made_one_takes_the_place_of_the_other(store, tea):
    made = Discussion(root=tea.root, id="tea in the making")
    await store.append(tea, [record("Old tea")], source("old"))
    await store.append(made, [record("New tea")], source("new"))
    assert await found(store, tea, "tea") == ["Old tea"]
    await store.put_in_place(tea, made)
    assert await found(store, tea, "tea") == ["New tea"]
    assert await hashes(store, tea) == ["new"]
    assert asked(file_of(tea), "SELECT discussion_id FROM memories") == [("tea",)]
    assert list(tea.root.iterdir()) == [file_of(tea)]


async def test_the_made_one_takes_a_place_that_another_program_chose(store, tea):
    nested = tea.root / "tea" / "vector_memory.db"
    their_file_of_2026(nested, ["Old tea"], [])
    made = Discussion(root=tea.root, id="made")
    await store.append(made, [record("New tea")], source("new"))
    await store.put_in_place(tea, made)
    assert await found(store, tea, "tea") == ["New tea"]
    assert [path for path in tea.root.rglob("*") if path.is_file()] == [nested]


async def test_a_file_that_was_removed_or_put_back_is_read_anew(store, tea, tmp_path):
    await store.append(tea, [record("Likes tea")], source("one"))
    assert await found(store, tea, "tea") == ["Likes tea"]
    file_of(tea).rename(tmp_path / "away")
    assert await found(store, tea, "tea") == []
    await store.append(tea, [record("Likes rum")], source("two"))
    assert await found(store, tea, "tea", "rum") == ["Likes rum"]
    (tmp_path / "away").replace(file_of(tea))
    assert await found(store, tea, "tea", "rum") == ["Likes tea"]


async def test_what_was_never_made_takes_no_place(store, tea):
    await store.append(tea, [record("Old tea")], source("old"))
    with pytest.raises(StorageUnavailable, match=r"made_vector_memory\.db is not there to be put in place"):
        await store.put_in_place(tea, Discussion(root=tea.root, id="made"))
    assert await found(store, tea, "tea") == ["Old tea"]
    assert list(tea.root.iterdir()) == [file_of(tea)]


async def test_what_found_its_place_damaged_goes_on_and_takes_it_later(store, tea):
    made = Discussion(root=tea.root, id="made")
    await store.append(made, [record("New tea")], source("new"))
    file_of(tea).write_text("damaged")
    with pytest.raises(StorageUnavailable, match="damaged"):
        await store.put_in_place(tea, made)
    await store.append(made, [record("Newer tea")], source("newer"))
    file_of(tea).unlink()
    await store.put_in_place(tea, made)
    assert await found(store, tea, "tea") == ["New tea", "Newer tea"]
    tracked = asked(file_of(tea), "SELECT discussion_id, last_checked_message_hash FROM vector_memory_tracker")
    assert tracked == [("tea", "hash of newer")]


async def test_a_journal_whose_file_was_removed_is_not_taken_for_one_of_the_new_file(store, tea):
    made = Discussion(root=tea.root, id="made")
    await store.append(tea, [record("Old tea")], source("old"))
    journal = killed_while_writing(file_of(tea))
    file_of(tea).unlink()
    await store.append(made, [record("New tea")], source("new"))
    await store.put_in_place(tea, made)
    assert await found(store, tea, "tea") == ["New tea"]
    assert asked(file_of(tea), "PRAGMA integrity_check") == [("ok",)]
    assert not journal.exists()


async def test_a_journal_beside_a_file_that_was_just_begun_is_not_taken_for_one_of_the_new_file(store, tea):
    made = Discussion(root=tea.root, id="made")
    await store.append(made, [record("New tea")], source("new"))
    killed_while_writing(file_of(tea))
    os.truncate(file_of(tea), 0)  # as it is before the first of its pages is written
    await store.put_in_place(tea, made)
    assert await found(store, tea, "tea") == ["New tea"]


async def test_the_made_one_takes_a_place_on_another_disk(store, tea, tmp_path, monkeypatch):
    on_one_disk = os.replace

    def replace(source, target, **folders):
        if Path(source).parent != Path(target).parent:
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        on_one_disk(source, target, **folders)

    monkeypatch.setattr(os, "replace", replace)
    theirs = Discussion(root=tea.root, id="tea", legacy=tmp_path / "Public")
    old = tmp_path / "Public" / "tea_vector_memory.db"
    their_file_of_2026(old, ["Old tea"], [])
    made = Discussion(root=tea.root, id="made")
    await store.append(made, [record("New tea")], source("new"))
    await store.put_in_place(theirs, made)
    assert await found(store, theirs, "tea") == ["New tea"]
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [old]
    assert old.stat().st_mode & 0o777 == 0o600


async def test_a_removed_file_is_not_held_open_once_somebody_looks_for_it(store, tea):
    await store.append(tea, [record("Likes tea")], source("one"))
    assert await found(store, tea, "tea") == ["Likes tea"]
    assert held_open(tea.root) == 1
    file_of(tea).unlink()
    assert await found(store, tea, "tea") == []
    assert held_open(tea.root) == 0
