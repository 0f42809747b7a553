"""One name for the files of each discussion, also where a file system takes two ids for one name."""

import unicodedata

import pytest

from mnemoir.core.discussion_id import directory_name, encoded_name
from mnemoir.core.discussions import Discussion, RollingSummary
from mnemoir.storage.discussions.chunk_ledger import FileChunkLedger
from mnemoir.storage.discussions.files import FileDiscussionFiles
from mnemoir.storage.discussions.record_store import SqliteRecordStore
from mnemoir.storage.discussions.rolling_summaries import FileRollingSummaries
from mnemoir.storage.discussions.timestamps import FileTimestamps
from tests.narrowing import present
from tests.storage.discussions.ledger_kit import array, called, foreign, live, put, source
from tests.storage.discussions.record_words import record

ALIKE = ["a", "A", "\u00e9", "e\u0301", "\u00c9", "stra\u00dfe", "STRASSE", "CON", "con", "a.", "A.", "../a", "../A"]
KINDS = [
    *("A_memories.jsonl", "A_memories.json", "A_summary.jsonl", "A_vector_memory.db", "A_timestamps.json", "A.lock"),
    *("A/memories.json", "A/state_document.md", "A_vector_memory.db-journal"),
]


@pytest.fixture
def root(tmp_path):
    return tmp_path / "DiscussionIds"


@pytest.fixture
def files():
    return FileDiscussionFiles()


def without_case(name):
    """What a file system without case and Unicode form makes of a name."""
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", name).casefold())


async def name_of(root, id, legacy=None):
    """The name that a server gives that has just started."""
    return (await FileDiscussionFiles().named_discussion(root, id, legacy)).file_name


async def test_ids_that_look_alike_to_a_file_system_get_names_that_do_not_before_any_file_is_made(files, root):
    names = [(await files.named_discussion(root, id)).file_name for id in ALIKE]
    assert len(set(map(without_case, names))) == len(ALIKE)
    assert (names[0], names[1]) == ("a", encoded_name("A"))
    assert not root.exists()


async def test_each_of_them_has_files_of_its_own_of_every_kind_and_is_listed_by_its_id(root):
    ledger, summaries = FileChunkLedger(), FileRollingSummaries()
    records, times = SqliteRecordStore(), FileTimestamps()
    for id in ALIKE:
        discussion = await FileDiscussionFiles().named_discussion(root, id)
        await ledger.append(discussion, f"About {id}", source(id))
        await summaries.save(discussion, RollingSummary(text=f"About {id}", hash="h"))
        await records.append(discussion, [record(id)], source(id))
        async with times.changing(discussion) as known:
            known[id] = "now"
    await records.aclose()
    files = FileDiscussionFiles()
    paths = [str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()]
    assert len(set(map(without_case, paths))) == len(paths)
    assert [row.id for row in await files.discussions_in(root)] == sorted(ALIKE)
    for id in reversed(ALIKE):
        discussion = await files.named_discussion(root, id)
        assert await live(FileChunkLedger(), discussion) == [f"About {id}"]
        assert present(await FileRollingSummaries().load(discussion)).text == f"About {id}"
        assert await FileTimestamps().load(discussion) == {id: "now"}
        entry = present(await files.entry(discussion))
        assert (entry.id, entry.records) == (id, 1)


async def test_removing_one_leaves_the_other(files, root):
    for id in ("a", "A"):
        await FileChunkLedger().append(await files.named_discussion(root, id), f"About {id}", source(id))
    async with files.making(await files.named_discussion(root, "A")):
        assert await files.remove(await files.named_discussion(root, "A"))
    assert [row.id for row in await files.discussions_in(root)] == ["a"]
    assert await live(FileChunkLedger(), called(root, "a")) == ["About a"]


@pytest.mark.parametrize("file", KINDS)
async def test_a_file_of_any_kind_takes_the_name(root, file):
    put(root, file, "")
    assert [await name_of(root, id) for id in ("A", "a", "b")] == ["A", encoded_name("a"), "b"]


async def test_a_database_beside_the_configuration_takes_the_name_and_goes_on(root, tmp_path):
    put(tmp_path, "A_vector_memory.db", "")
    put(tmp_path, "B_memories.json", array(foreign("not of a discussion here")))
    assert [await name_of(root, id, tmp_path) for id in ("A", "a", "b")] == ["A", encoded_name("a"), "b"]
    put(root, "a_memories.jsonl", "")
    assert [await name_of(root, id, tmp_path) for id in ("A", "a")] == ["A", "a"]


async def test_old_files_open_unchanged_and_names_of_their_own_stay_as_they_are(root, tmp_path):
    for id in ("a", "A", "\u00e9"):
        put(root, f"{id}_memories.json", array(foreign(f"About {id}")))
    before = {path.name: path.read_bytes() for path in root.iterdir()}
    files = FileDiscussionFiles()
    for id in ("a", "A", "\u00e9"):
        assert await files.named_discussion(root, id, tmp_path) == Discussion(root=root, id=id, legacy=tmp_path)
        assert await live(FileChunkLedger(), await files.named_discussion(root, id, tmp_path)) == [f"About {id}"]
    for id in ("Tea Time", "s\u00fc\u00df", "\u65e5\u672c\u8a9e", "CON", "x.", "x" * 300):
        assert await name_of(root, id) == directory_name(id)
    assert {path.name: path.read_bytes() for path in root.iterdir()} == before


async def test_a_folder_that_cannot_be_listed_changes_no_name(files, tmp_path, monkeypatch):
    monkeypatch.setattr("os.scandir", lambda path: (_ for _ in ()).throw(PermissionError(13, "Permission denied")))
    assert await files.named_discussion(tmp_path, "A") == called(tmp_path, "A")
