"""`mnemoir backup`: made, checked, restored; what is refused is left as it was."""

import asyncio
import fcntl
import json
import os
import shutil
import stat
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from mnemoir.core.api_keys import parts_of
from mnemoir.core.clock import from_text
from mnemoir.core.discussions import Discussion
from mnemoir.storage.backups import copying
from mnemoir.storage.discussions.chunk_ledger import FileChunkLedger
from mnemoir.storage.discussions.record_store import SqliteRecordStore
from mnemoir.storage.file_lock import lock_file
from mnemoir.upkeep import backups
from tests.cli.command_process import run_here
from tests.narrowing import present
from tests.storage.discussions.ledger_kit import source
from tests.storage.discussions.record_words import record

TALK = """\
{"format":"mnemoir-conversation","version":2,"session":{"id":"trip","title":"Lisbon"}}
{"id":1,"parent_id":null,"role":"user","content":"Where to?"}
{"id":2,"parent_id":1,"role":"assistant","content":"To the sea.","head":true}
"""


@pytest.fixture
def mnemoir(tmp_path, capsys):
    """`mnemoir` in a folder of its own."""
    return lambda *arguments, **given: run_here(*arguments, cwd=tmp_path, capsys=capsys, **given)


@pytest.fixture
def data(mnemoir, tmp_path):
    """A data directory with a memory, a conversation, a key, and a file of settings with the key of a model."""
    (tmp_path / "talk.jsonl").write_text(TALK)
    for command in (
        ["memories", "add", "I live in Graz"],
        ["keys", "create"],
        ["conversations", "import", "talk.jsonl"],
    ):
        assert mnemoir(*command, "--data-dir", "data").returncode == 0
    folder = tmp_path / "data"
    (folder / "settings").mkdir()
    (folder / "settings/key-0123456789abcdef.json").write_text("secret")
    (folder / "chat-history").write_text("Hello")
    return folder


@pytest.fixture
def discussion(data):
    """A discussion in it, with a chunk and a record."""

    async def make():
        tea, records = Discussion(root=data / "discussions", id="tea"), SqliteRecordStore()
        await FileChunkLedger().append(tea, "A", source("a"))
        await records.append(tea, [record("tea")], source("a"))
        await records.aclose()

    asyncio.run(make())


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def create(mnemoir, *arguments):
    done = mnemoir("backup", "create", *arguments, "--data-dir", "data", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_backup_has_the_data_and_neither_keys_nor_caches_unless_asked(mnemoir, data, tmp_path):
    (data / "cache").mkdir()
    (data / "cache/pack").write_text("made anew")
    told = create(mnemoir, "plain")
    assert told["counts"] == {"conversations": 1, "messages": 2, "memories": 1}
    plain = contents(tmp_path / "plain/data")
    assert {"mnemoir.db", "chat-history"} <= plain.keys()
    assert not [name for name in plain if "access" in name or "secret" in name or "key-" in name]
    assert not {"cache/pack", "runs.db", "mnemoir.lock", "mnemoir.db-wal"} & plain.keys()
    told = create(mnemoir, "whole", "--keys", "--all")
    assert told["counts"]["keys"] == 1
    names = {"access.db", "secrets/pepper", "settings/key-0123456789abcdef.json", "cache/pack", "runs.db"}
    assert names <= contents(tmp_path / "whole/data").keys()
    for done in (mnemoir("backup", "verify", "plain"), mnemoir("backup", "verify", "whole")):
        assert (done.returncode, done.stdout[5:]) == (0, "  whole\n")


def test_a_restored_directory_is_private_sound_and_the_same(mnemoir, data, tmp_path):
    create(mnemoir, "backup", "--keys")
    done = mnemoir("backup", "restore", "backup", "--data-dir", "new/data")
    assert done.returncode == 0, done.stderr
    assert contents(tmp_path / "new/data") == contents(tmp_path / "backup/data")
    for place in (tmp_path / "new", tmp_path / "backup"):
        modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (place, *place.rglob("*"))}
        assert {mode for path, mode in modes.items() if path.is_dir()} == {0o700}
        assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}
    checks = json.loads(mnemoir("doctor", "--data-dir", "new/data", "--json").stdout)["checks"]
    assert [check for check in checks if check["state"] == "fail"] == []
    listed = [mnemoir("memories", "list", "--json", "--data-dir", folder).stdout for folder in ("data", "new/data")]
    assert listed[0] == listed[1] != ""
    keys = [mnemoir("keys", "list", "--data-dir", folder).stdout for folder in ("data", "new/data")]
    assert keys[0] == keys[1] != ""


def test_discussions_come_back_also_while_their_memories_are_being_made(
    mnemoir, data, discussion, tmp_path, monkeypatch
):
    monkeypatch.setattr(copying, "_LOCK_PATIENCE_S", 0.0)
    folder = os.open(data / "discussions", os.O_RDONLY)
    lock = present(lock_file(folder, "tea.lock"))
    try:
        create(mnemoir, "backup")
    finally:
        os.close(lock)
        os.close(folder)
    assert mnemoir("backup", "verify", "backup").returncode == 0
    assert mnemoir("backup", "restore", "backup", "--data-dir", "new").returncode == 0
    checks = json.loads(mnemoir("doctor", "--data-dir", "new", "--json").stdout)["checks"]
    (found,) = [check["found"] for check in checks if check["check"] == "discussions"]
    assert found == "1 discussion with 1 chunk summaries and 1 record, whole"


def test_a_damaged_database_that_was_set_aside_is_copied_as_it_is(mnemoir, data, tmp_path):
    aside = data / "conversations/default/user/conversations.db.corrupt-20260101T000000Z"
    aside.parent.mkdir(parents=True, exist_ok=True)
    aside.write_bytes(b"SQLite format 3\0 and nothing more")
    create(mnemoir, "backup")
    assert aside.read_bytes() in contents(tmp_path / "backup/data").values()
    assert mnemoir("backup", "verify", "backup").returncode == 0


def test_a_damaged_database_ends_the_backup_by_name_and_leaves_none(mnemoir, data, tmp_path):
    (data / "mnemoir.db").write_bytes(b"SQLite format 3\0 and nothing more")
    done = mnemoir("backup", "create", "backup", "--data-dir", "data")
    assert done.returncode == 1
    assert f"{data / 'mnemoir.db'}" in done.stderr
    assert [path.name for path in tmp_path.iterdir() if "backup" in path.name] == []


@pytest.mark.costly("each byte is flipped")
def test_every_flipped_byte_missing_file_and_further_file_is_found(mnemoir, data, tmp_path):
    create(mnemoir, "backup", "--keys")
    backup = tmp_path / "backup"
    for path in sorted(path for path in backup.rglob("*") if path.is_file()):
        content = path.read_bytes()
        for at in {0, len(content) // 3, len(content) // 2, len(content) - 1}:
            path.write_bytes(content[:at] + bytes([content[at] ^ 0x55]) + content[at + 1 :])
            done = mnemoir("backup", "verify", "backup", "--json")
            assert (done.returncode, bool(json.loads(done.stdout)["problems"])) == (1, True), (path, at)
        path.unlink()
        assert mnemoir("backup", "verify", "backup").returncode == 1
        path.write_bytes(content)
    (backup / "data/more").touch()
    assert mnemoir("backup", "verify", "backup").stdout == f"{'backup'}/data/more: is not in backup.json\n"
    refused = mnemoir("backup", "restore", "backup", "--data-dir", "new")
    assert (refused.returncode, (tmp_path / "new").exists()) == (1, False)
    (backup / "data/more").unlink()
    assert mnemoir("backup", "verify", "backup").returncode == 0


def run_on(path, statement):
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute(statement)


def test_a_backup_of_another_schema_is_refused(mnemoir, data, tmp_path):
    (conversations,) = data.glob("conversations/*/*/conversations.db")
    run_on(data / "mnemoir.db", "UPDATE migrations SET name = 'of another text'")
    run_on(conversations, "PRAGMA user_version = 6")
    create(mnemoir, "backup")
    found = mnemoir("backup", "verify", "backup")
    assert (found.returncode, found.stdout.count("was made by an unreleased Mnemoir")) == (1, 2)
    refused = mnemoir("backup", "restore", "backup", "--data-dir", "new")
    assert (refused.returncode, (tmp_path / "new").exists()) == (1, False)


def test_a_backup_of_a_newer_program_is_refused(mnemoir, data, tmp_path):
    run_on(data / "mnemoir.db", "INSERT INTO migrations (number, name, at) VALUES (9999, 'later', '')")
    create(mnemoir, "backup")
    found = mnemoir("backup", "verify", "backup")
    assert (found.returncode, "was written by a newer Mnemoir" in found.stdout) == (1, True)
    listed = tmp_path / "backup/backup.json"
    listed.write_text(json.dumps(json.loads(listed.read_text()) | {"version": 2}))
    assert "was made by a newer Mnemoir" in mnemoir("backup", "verify", "backup").stdout


@pytest.mark.parametrize("keep", [[], ["--keep", "2"]])
def test_a_target_that_is_no_backup_is_refused_and_left_as_it_is(mnemoir, data, tmp_path, keep):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/novel.txt").write_text("Once")
    (tmp_path / "file").write_text("Once")
    for target in ("mine", "file", "data", "data/backup", "."):
        before = contents(tmp_path)
        done = mnemoir("backup", "create", target, "--data-dir", "data", *keep)
        assert (done.returncode, done.stderr.startswith("mnemoir: ")) == (1, True)
        assert contents(tmp_path) == before


def test_a_backup_is_replaced_by_a_newer_one(mnemoir, data, tmp_path):
    first = create(mnemoir, "backup")
    mnemoir("memories", "add", "I play the violin", "--data-dir", "data")
    assert create(mnemoir, "backup")["counts"]["memories"] == first["counts"]["memories"] + 1
    assert [path.name for path in tmp_path.iterdir() if "backup" in path.name] == ["backup"]


def test_a_directory_that_is_not_empty_is_not_restored_into(mnemoir, data, tmp_path):
    create(mnemoir, "backup")
    before = contents(tmp_path)
    for place in ("data", "backup", "backup/data/new"):
        assert mnemoir("backup", "restore", "backup", "--data-dir", place).returncode == 1
        assert contents(tmp_path) == before
    (tmp_path / "empty").mkdir()
    assert mnemoir("backup", "restore", "backup", "--data-dir", "empty").returncode == 0


@pytest.fixture
def at(monkeypatch):
    """Sets the clock of the backups."""
    return lambda text: monkeypatch.setattr(backups, "utc_now", lambda: from_text(text))


def test_of_a_folder_of_backups_the_newest_stay_and_share_what_did_not_change(mnemoir, data, tmp_path, at):
    folder = tmp_path / "kept"
    for day in range(1, 5):
        at(f"2026-03-0{day}T09:00:00Z")
        (data / "chat-history").write_text(f"Day {day}")
        create(mnemoir, "kept", "--keep", "3")
    days = sorted(path.name for path in folder.iterdir())
    assert days == ["20260302T090000Z", "20260303T090000Z", "20260304T090000Z"]
    newest = {name: (folder / days[2] / "data" / name).stat() for name in ("mnemoir.db", "chat-history")}
    assert {name: found.st_nlink for name, found in newest.items()} == {"mnemoir.db": 3, "chat-history": 1}
    for day in days:
        assert mnemoir("backup", "verify", f"kept/{day}").returncode == 0
    assert mnemoir("backup", "verify", "kept").stdout == f"kept/{days[2]}  whole\n"
    assert mnemoir("backup", "restore", "kept", "--data-dir", "new").returncode == 0
    assert (tmp_path / "new/chat-history").read_text() == "Day 4"


def test_a_backup_that_was_made_by_a_clock_set_back_is_not_the_one_to_go(mnemoir, data, tmp_path, at):
    for day in (2, 3):
        at(f"2026-03-0{day}T09:00:00Z")
        create(mnemoir, "kept", "--keep", "2")
    at("1970-01-01T00:10:00Z")
    create(mnemoir, "kept", "--keep", "2")
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == ["19700101T001000Z", "20260303T090000Z"]


def test_a_damaged_file_is_not_shared_and_what_a_killed_one_left_is_removed(mnemoir, data, tmp_path, at):
    folder = tmp_path / "kept"
    at("2026-03-01T09:00:00Z")
    create(mnemoir, "kept", "--keep", "2")
    (folder / "20260301T090000Z/data/chat-history").write_text("HellO")
    shutil.copytree(folder / "20260301T090000Z", folder / ".20260301T100000Z.unfinished")
    shutil.copytree(folder / "20260301T090000Z", folder / "20260228T090000Z")
    (folder / "20260228T090000Z/backup.json").unlink()
    at("2026-03-02T09:00:00Z")
    create(mnemoir, "kept", "--keep", "2")
    assert sorted(path.name for path in folder.iterdir()) == ["20260301T090000Z", "20260302T090000Z"]
    assert mnemoir("backup", "verify", "kept/20260302T090000Z").returncode == 0


@pytest.mark.parametrize("link", ["conversations/default", "conversations/default/user", "notes"])
def test_a_link_to_a_folder_is_not_followed_and_told_wherever_it_lies(mnemoir, data, tmp_path, link):
    (data / "notes").mkdir()
    (data / "conversations/default/user/objects").mkdir(parents=True)
    (data / "conversations/default/user/objects/picture").write_text("A cup.")
    (data / link).rename(tmp_path / "elsewhere")
    (data / link).symlink_to(tmp_path / "elsewhere")
    left_out = create(mnemoir, "backup")["left_out"]
    assert f"{data / link} is a link, and links are not followed." in left_out
    assert [path for path in contents(tmp_path / "backup/data") if path.startswith(f"{link}/")] == []


def test_what_lies_elsewhere_is_told(mnemoir, data, tmp_path):
    (tmp_path / "mine.yaml").write_text("log:\n  level: info\n")
    (data / "discussions").mkdir(exist_ok=True)
    (data / "discussions/link").symlink_to(tmp_path / "mine.yaml")
    given = {"STORAGE_BACKEND": "file", "WORKSPACE_ROOT": str(tmp_path / "work")}
    done = mnemoir("backup", "create", "backup", "--config", "mine.yaml", "--data-dir", "data", **given)
    assert done.returncode == 0, done.stderr
    assert f"Not in the backup: The settings file {tmp_path / 'mine.yaml'} lies elsewhere." in done.stderr
    assert f"Not in the backup: The workspace {tmp_path / 'work'} lies elsewhere." in done.stderr
    assert f"Not in the backup: {data / 'discussions/link'} is a link" in done.stderr
    assert "Not in the backup: keys of callers and of models" in done.stderr
    restored = mnemoir("backup", "restore", "backup", "--data-dir", "new")
    assert f"Was not in the backup: The workspace {tmp_path / 'work'} lies elsewhere." in restored.stderr


def test_without_a_data_directory_nothing_is_made(mnemoir, tmp_path):
    done = mnemoir("backup", "create", "backup", "--data-dir", "nowhere")
    assert (done.returncode, "There is no data directory" in done.stderr) == (3, True)
    assert not (tmp_path / "nowhere").exists()
    assert not (tmp_path / "backup").exists()
    assert mnemoir("backup", "verify", "backup").returncode == 1


def test_two_backups_to_one_place_are_not_made_at_once(mnemoir, data, tmp_path):
    held = os.open(tmp_path, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = mnemoir("backup", "create", "backup", "--data-dir", "data")
    finally:
        os.close(held)
    assert (done.returncode, "Another Mnemoir is writing beside" in done.stderr) == (1, True)


def test_a_key_that_came_back_is_the_same(mnemoir, data):
    text = mnemoir("keys", "create", "--data-dir", "data").stdout.strip()
    create(mnemoir, "backup", "--keys")
    mnemoir("backup", "restore", "backup", "--data-dir", "new")
    assert present(parts_of(text)).id in mnemoir("keys", "list", "--data-dir", "new").stdout
