"""Discussions move to another key, to a first one and to none, all of each or nothing, whatever fails."""

import itertools

import pytest

from mnemoir.core.discussions import BlockChanges, ClientFolder, Discussion, RollingSummary
from mnemoir.core.errors import KeyUnavailable, StorageUnavailable
from mnemoir.storage.discussions.chunk_ledger import FileChunkLedger
from mnemoir.storage.discussions.client_keys import fernet_key_of
from mnemoir.storage.discussions.files import FileDiscussionFiles
from mnemoir.storage.discussions.record_store import SqliteRecordStore
from mnemoir.storage.discussions.rolling_summaries import FileRollingSummaries
from mnemoir.storage.discussions.timestamps import FileTimestamps
from tests.faulty_files import FaultyFiles
from tests.storage.discussions.ledger_kit import foreign, lines, put, source
from tests.storage.discussions.record_words import record
from tests.storage.discussions.record_words import source as chunk_of_records

WORD = "Tandemzinnober"


def of_key(root, key, id="d1"):
    """The discussion in the folder of a key, whose name tests may choose."""
    client = ClientFolder(name=f"{key:016x}", secret=fernet_key_of(f"key {key}", "ann"))
    return Discussion(root=root / client.name, id=id, client=client)


@pytest.fixture
async def records():
    store = SqliteRecordStore()
    yield store
    await store.aclose()


@pytest.fixture
async def plain(tmp_path, records):
    """A discussion in plain files of all kinds, one summary of which is stale."""
    discussion = Discussion(root=tmp_path, id="d1")
    ledger = FileChunkLedger()
    put(tmp_path, "d1_memories.jsonl", lines(foreign("Theirs.")))
    for text in (f"Owns {WORD}.", "Gone."):
        made = await ledger.append(discussion, text, source(f"said {text}"))
    await ledger.change(discussion, BlockChanges(stale=frozenset([made.id])))
    await FileRollingSummaries().save(discussion, RollingSummary(text=f"All of {WORD}.", hash="h", number=2))
    async with FileTimestamps().changing(discussion) as times:
        times["m1"] = "2026-01-02"
    await records.append(discussion, [record("Tea", f"Likes {WORD}.")], chunk_of_records("tea"))
    put(tmp_path, "d1/state_document.md", f"# {WORD}")
    return discussion


async def told(discussion, records):
    """All that is read of a discussion."""
    ledger = FileChunkLedger()
    chunks = [(one.text, one.number, one.is_read, one.digests) for one in await ledger.all(discussion)]
    rolling = await FileRollingSummaries().load(discussion)
    return {
        "chunks": chunks,
        "sources": list((await ledger.sources(discussion)).values()),
        "rolling": rolling and (rolling.text, rolling.number),
        "times": dict(await FileTimestamps().load(discussion)),
        "records": [(one.text, one.metadata) for one in await records.newest(discussion, limit=10)],
        "state": await FileDiscussionFiles().state_document(discussion),
    }


def plain_words(root):
    """The files with the word in plain, but for databases of records."""
    files = [file for file in root.rglob("*") if file.is_file() and ".db" not in file.name]
    return [file.name for file in files if WORD.encode() in file.read_bytes()]


async def test_all_of_a_discussion_moves_from_key_to_key_and_back_to_plain_files(plain, tmp_path, records):
    files, before = FileDiscussionFiles(), await told(plain, records)
    assert {text for text, *_ in before["chunks"]} == {"Theirs.", f"Owns {WORD}.", "Gone."}
    at = plain
    for target in (of_key(tmp_path, 1), of_key(tmp_path, 2), Discussion(root=tmp_path, id="d1")):
        assert await files.move(at, target)
        assert await told(target, records) == before
        assert target == plain or not await files.exists(at)
        assert (plain_words(tmp_path) == []) == (target.client is not None)
        at = target


async def test_what_is_there_under_the_other_key_is_not_replaced(plain, tmp_path, records):
    files, target = FileDiscussionFiles(), of_key(tmp_path, 1)
    await FileChunkLedger().append(target, "Another one.", source("said"))
    before = await told(target, records), await told(plain, records)
    assert not await files.move(plain, target)
    assert (await told(target, records), await told(plain, records)) == before
    assert not await files.move(of_key(tmp_path, 3), of_key(tmp_path, 4))
    assert not of_key(tmp_path, 4).root.exists()


async def test_with_a_wrong_key_nothing_moves(plain, tmp_path, records):
    files, own = FileDiscussionFiles(), of_key(tmp_path, 1)
    await files.move(plain, own)
    before = await told(own, records)
    wrong = Discussion(root=own.root, id="d1", client=ClientFolder(name="1", secret=fernet_key_of("wrong", "ann")))
    with pytest.raises(KeyUnavailable, match="Nothing was changed"):
        await files.move(wrong, of_key(tmp_path, 2))
    assert await told(own, records) == before
    assert not await files.exists(of_key(tmp_path, 2))


@pytest.mark.slow
async def test_whatever_call_of_the_system_fails_one_of_both_is_whole(plain, tmp_path, records, monkeypatch):
    files, before = FileDiscussionFiles(), await told(plain, records)
    system, at, targets = FaultyFiles(monkeypatch), plain, itertools.cycle([of_key(tmp_path, 1), of_key(tmp_path, 2)])
    failing = 0
    while True:
        failing += 1
        target = next(targets)
        system.arm(failing)
        try:
            await files.move(at, target)
        except StorageUnavailable:
            assert system.disarm()
        else:
            if not system.disarm():
                break
        if await files.exists(target):  # it broke off in removing the source
            assert await told(target, records) == before
            await files.remove(at)
            at = target
        else:
            assert await told(at, records) == before
            next(targets)
    assert failing > 20
    assert await told(target, records) == before
    assert {path.name for path in target.root.iterdir() if path.is_dir()} == {"d1"}
