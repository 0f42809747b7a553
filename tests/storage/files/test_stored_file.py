"""Files that other programs change at the same time, without any lock: nobody's edit is written over."""

import itertools
import json

import pytest

from mnemoir.core.discussions import BlockChanges, Discussion, RollingSummary
from mnemoir.core.errors import StorageUnavailable
from mnemoir.ports.memory_store import Project
from mnemoir.ports.project_settings import ProjectSettings
from mnemoir.storage.discussions.chunk_ledger import FileChunkLedger
from mnemoir.storage.discussions.rolling_summaries import FileRollingSummaries
from mnemoir.storage.discussions.timestamps import FileTimestamps
from mnemoir.storage.files import FileProjectSettings
from mnemoir.storage.files.stored_file import StoredFile
from mnemoir.storage.files.workspace import Folder
from tests.faulty_files import FaultyFiles
from tests.storage.discussions.ledger_kit import foreign, source

DEMO = Project(tenant="default", project="demo")
OURS, THEIRS = "written by us", "written by another"


@pytest.fixture
def disk(monkeypatch):
    return FaultyFiles(monkeypatch)


async def settings(root):
    await FileProjectSettings(root).change(DEMO, lambda _: ProjectSettings(search_limit=7, extraction_prompt=OURS))


async def times(root):
    async with FileTimestamps().changing(Discussion(root=root, id="d1")) as changed:
        changed["ours"] = OURS


async def a_summary(root):
    summary = RollingSummary(text=OURS, hash="h", updated_at="now")
    await FileRollingSummaries().save(Discussion(root=root, id="d1"), summary)


async def a_ledger(root):
    await FileChunkLedger().append(Discussion(root=root, id="d1"), OURS, source("a"))


async def a_stale_chunk(root):
    ledger, discussion = FileChunkLedger(), Discussion(root=root, id="d1")
    block = (await ledger.blocks(discussion))[-1]
    await ledger.change(discussion, BlockChanges(stale=frozenset({block.key})))


@pytest.mark.parametrize(
    ("change", "name", "before"),
    [
        (settings, "demo/.etienne/long-term-memory/settings.json", {"searchLimit": 1}),
        (times, "d1/timestamps.json", {"a": "b"}),
        (a_summary, "d1/chat_summary.json", [{"note": "before"}]),
        (a_ledger, "d1/memories.json", [foreign("before")]),
        (a_stale_chunk, "d1/memories.json", [foreign("before"), foreign(OURS)]),
    ],
)
async def test_an_edit_at_any_step_of_a_change_is_kept(tmp_path, disk, change, name, before):
    file = tmp_path / name
    file.parent.mkdir(parents=True)

    def by_another():
        content = json.loads(file.read_bytes())
        content = [foreign(THEIRS), *content] if isinstance(content, list) else content | {"theirs": THEIRS}
        edited = file.with_name("edited")
        edited.write_text(json.dumps(content))
        edited.replace(file)

    for number in itertools.count(1):
        file.write_text(json.dumps(before))
        (tmp_path / "d1_stale.jsonl").unlink(missing_ok=True)
        disk.arm(number, strike=by_another)
        await change(tmp_path)
        call = disk.seen[number - 1 : number]
        if not disk.disarm():
            break
        written = "".join(one.read_text() for one in tmp_path.rglob("*") if one.is_file())
        assert OURS in written
        if call != [("replace", file.name)]:  # between the last look at the file and this nobody can look again
            assert THEIRS in file.read_text()
    assert number > 8


def test_a_file_that_is_edited_all_the_time_is_left_to_the_other_program(tmp_path, disk):
    file = StoredFile(folder=Folder(root=tmp_path, steps=()), file="notes")
    edits = itertools.count()

    def by_another(content):
        file.path.write_text(f"edit {next(edits)}")
        return content + b"ours"

    with pytest.raises(StorageUnavailable, match="edited by another program"):
        file.change(by_another)
    assert file.path.read_text() == f"edit {next(edits) - 1}"
    assert [one.name for one in tmp_path.iterdir()] == ["notes"]
