"""`mnemoir doctor` on a config tree and the files of discussions."""

import json

import pytest

from mnemoir.cli.diagnosis import file_checks
from mnemoir.core.discussions import Discussion
from mnemoir.settings import load_settings
from mnemoir.storage.discussions.chunk_ledger import FileChunkLedger
from mnemoir.storage.discussions.record_store import SqliteRecordStore
from tests.cli.command_process import run_here
from tests.serving import free_port
from tests.storage.discussions.ledger_kit import put, source
from tests.storage.discussions.record_words import record
from tests.workflows.config.config_kit import SMALL, tree_of

BOB = {"Users/bob.json": SMALL["Users/ann.json"]}


@pytest.fixture
def settings(tmp_path):
    """Settings with a data directory that does not exist yet."""

    def load(tree=None, users=None):
        place = {"storage.data_dir": tmp_path / "data", "workflows.users": users}
        given = place if tree is None else {**place, "workflows.config_dir": tree.root}
        return load_settings(None, given, environ={"HOME": str(tmp_path)})

    return load


async def test_without_discussions_nothing_is_created(settings, tmp_path):
    finding = await file_checks.check_discussions(settings())
    assert (finding.state, finding.found) == ("ok", "none yet")
    assert list(tmp_path.iterdir()) == []


async def test_sound_discussions_are_counted(settings, tmp_path):
    root, records = tmp_path / "data" / "discussions", SqliteRecordStore()
    for id in ("tea", "rum"):
        await FileChunkLedger().append(Discussion(root=root, id=id), "A", source("a"))
    await records.append(Discussion(root=root, id="tea"), [record("tea")], source("a"))
    await records.aclose()
    finding = await file_checks.check_discussions(settings())
    assert (finding.state, finding.found) == ("ok", "2 discussions with 2 chunk summaries and 1 record, whole")


async def test_damaged_files_of_every_served_user_are_named_once_and_left_unchanged(settings, tmp_path):
    tree = tree_of(tmp_path, BOB)
    common = tree.public / "DiscussionIds"
    damaged = [
        put(common, "old_memories.json", "{"),
        put(common, "%users/ann/tea_memories.jsonl", "nothing\n"),
        put(common, "%users/bob/tea_summary.jsonl", "["),
        put(tree.public, "tea_vector_memory.db", "no database" * 100),
    ]
    finding = await file_checks.check_discussions(settings(tree, ["Ann", "Bob"]))
    assert (finding.state, [finding.found.count(str(file)) for file in damaged]) == ("fail", [1, 1, 1, 1])
    assert "docs/discussion-memory.md" in finding.to_do
    assert damaged[0].read_text() == "{"
    finding = await file_checks.check_discussions(settings(tree, ["Ann"]))
    assert [str(file) in finding.found for file in damaged] == [True, False, False, True]


async def test_of_many_damaged_files_five_are_named(settings, tmp_path):
    for n in range(8):
        put(tmp_path / "data" / "discussions", f"d{n}_memories.json", "{")
    finding = await file_checks.check_discussions(settings())
    assert finding.found.count("_memories.json is damaged") == 5
    assert finding.found.endswith("And 3 more.")


async def test_a_tree_without_errors_passes(settings, tmp_path):
    tree = tree_of(tmp_path)
    finding = await file_checks.check_tree(settings(tree))
    assert (finding.state, finding.found) == ("ok", f"{tree.root}: 0 errors, 0 warnings")


async def test_errors_in_the_tree_are_a_warning_that_says_which_command_lists_them(settings, tmp_path):
    node = {"type": "Standard", "endpointName": "Mian", "prompt": ""}
    tree = tree_of(tmp_path, {"Workflows/Ann/Chat.json": [node]})
    finding = await file_checks.check_tree(settings(tree))
    assert (finding.state, finding.found) == ("warn", f"{tree.root}: 1 error, 0 warnings")
    assert finding.to_do == f"Run: mnemoir check --config-dir {tree.root}"


async def test_a_tree_that_cannot_be_served_fails_and_its_discussions_are_not_reported_as_intact(settings, tmp_path):
    here = settings(tree_of(tmp_path), ["Nobody"])
    assert (await file_checks.check_tree(here)).state == "fail"
    finding = await file_checks.check_discussions(here)
    assert (finding.state, "not looked at" in finding.found) == ("warn", True)


def test_the_command_takes_the_tree_and_its_users(tmp_path, capsys):
    port = free_port()
    ann = {**SMALL["Users/ann.json"], "port": port}
    tree = tree_of(tmp_path, {**BOB, "Users/ann.json": ann})
    file = put(tree.public / "DiscussionIds", "tea_memories.json", "{")
    environment = {"OLLAMA_HOST": f"127.0.0.1:{free_port()}", "MNEMOIR_STORAGE__DATA_DIR": str(tmp_path / "data")}
    asked = ("doctor", "--json", "--config-dir", str(tree.public), "--user", "Ann")
    done = run_here(*asked, cwd=tmp_path, capsys=capsys, **environment)
    found = {finding["check"]: finding for finding in json.loads(done.stdout)["checks"]}
    assert (done.returncode, found["config tree"]["state"], found["discussions"]["state"]) == (1, "ok", "fail")
    assert str(file) in found["discussions"]["found"]
    assert str(port) in found["port"]["found"]
