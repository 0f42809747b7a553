"""A project file that this program and another one change: the file is the truth, and neither loses what it wrote."""

import errno
import itertools
import os

import pytest

from mnemoir.core.errors import StorageUnavailable
from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import Remove, Update
from tests.contracts.test_forgotten_sessions import files_with
from tests.failing_calls import failing_calls
from tests.faulty_files import FaultyFiles
from tests.storage.files.file_parts import ASKED, MIRA, fact, record, words_only
from tests.storage.files.test_file_store import texts

_THE_RENAME = ("replace", "memories.json")  # between the last look at the file and this nobody can look again


@pytest.fixture
def disk(monkeypatch):
    return FaultyFiles(monkeypatch)


async def revision(store):
    return await store.reading(lambda snapshot: snapshot.revision(MIRA))


async def add(store):
    await store.commit(MIRA, [fact("ours")], ASKED)


async def edit(store):
    entry = words_only("old, edited")
    await store.commit(
        MIRA, [Update(target=MemoryId("x-old"), expected="old", text="old, edited", entry=entry)], ASKED
    )


async def remove(store):
    await store.commit(MIRA, [Remove(target=MemoryId("x-old"), expected="old")], ASKED)


async def delete(store):
    await store.delete(MIRA, "x-old")


async def delete_all(store):
    await store.delete_all(MIRA)


async def forget(store):
    await store.forget_session(MIRA, "s1")


CHANGES = pytest.mark.parametrize(
    ("change", "after"),
    [
        (add, ["old", "tom's", "theirs", "ours"]),
        (edit, ["old, edited", "tom's", "theirs"]),
        (remove, ["tom's", "theirs"]),
        (delete, ["tom's", "theirs"]),
        (delete_all, ["tom's"]),
        (forget, ["tom's", "theirs"]),
    ],
)


def put_before(workspace):
    workspace.put(record("old", metadata={"session_id": "s1"}), record("tom's", user_id="tom"))


@CHANGES
@failing_calls
async def test_a_change_of_an_edited_file_that_fails_at_any_step_is_told_and_leaves_the_edit(
    store, workspace, disk, change, after, failing
):
    async def edited():
        put_before(workspace)
        await texts(store)
        workspace.put(*workspace.records(), record("theirs"))

    await edited()
    disk.arm(0)
    await change(store)
    for attempt in failing(disk, disk.seen, errno.EIO):
        await edited()
        with attempt:
            await change(store)
        assert workspace.texts() in ([after, ["old", "tom's", "theirs"]] if attempt.told else [after])
        if attempt.struck:
            await add(store)
            assert "ours" in workspace.texts()
    assert attempt.number > 10


@CHANGES
async def test_an_edit_at_any_step_of_a_change_is_merged_by_record_id(store, workspace, disk, change, after):
    def by_another():
        others = [one for one in workspace.records() if one["id"] not in ("x-edited", "x-gone")]
        workspace.put(*others, record("theirs", user_id="tom"), record("edited", memory="by tom", user_id="tom"))

    for number in itertools.count(1):
        put_before(workspace)
        workspace.put(*workspace.records(), record("edited", user_id="tom"), record("gone", user_id="tom"))
        await texts(store)
        disk.arm(number, strike=by_another)
        await change(store)
        call = disk.seen[number - 1 : number]
        if not disk.disarm():
            break
        if call != [_THE_RENAME]:
            kept = [text for text in after if text != "theirs"]
            assert sorted(workspace.texts()) == sorted([*kept, "theirs", "by tom"])
    assert number > 10


async def test_a_file_that_another_program_edits_all_the_time_is_left_to_it(store, workspace, disk):
    put_before(workspace)
    edits = iter(range(10**6))

    def by_another():
        workspace.put(record(f"edit {next(edits)}"))
        disk.arm(1, strike=by_another)

    disk.arm(1, strike=by_another)
    with pytest.raises(StorageUnavailable, match="edited by another program"):
        await add(store)
    disk.disarm()
    assert workspace.texts()[0].startswith("edit ")
    await add(store)
    assert workspace.texts()[1:] == ["ours"]


async def test_a_file_that_was_only_touched_keeps_its_index(store, workspace):
    await add(store)
    before = await revision(store)
    os.utime(workspace.file(), ns=(1, 1))
    assert await revision(store) == before
    workspace.put(*workspace.records(), record("theirs"))
    before = await revision(store)
    workspace.file().chmod(0o600)
    assert await revision(store) == before


async def test_an_edit_in_place_is_seen_though_it_keeps_size_and_time(store, workspace):
    workspace.put(record("Likes tea"))
    assert await texts(store) == ["Likes tea"]
    file = workspace.file()
    status = file.stat()
    with file.open("r+b") as opened:
        opened.write(file.read_bytes().replace(b"Likes tea", b"Likes ale"))
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert await texts(store) == ["Likes ale"]


async def test_what_was_forgotten_is_in_no_file_when_that_is_told(store, workspace, tmp_path):
    await store.commit(MIRA, [fact("zanzibar", metadata={"session_id": "s1"})], ASKED)
    workspace.put(*workspace.records(), record("theirs"))
    assert await store.forget_session(MIRA, "s1") == 1
    assert files_with(tmp_path, "zanzibar") == []
    assert workspace.texts() == ["theirs"]


async def test_a_deleted_file_is_deleted_knowledge_and_no_folder_is_made_for_it(store, workspace):
    await add(store)
    workspace.file().unlink()
    assert (await texts(store), await store.backlog("m1")) == ([], (0, 0))
    assert not workspace.file().exists()
