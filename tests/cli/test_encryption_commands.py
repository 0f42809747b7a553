"""`mnemoir encryption`: on a data directory, beside a running server and without one."""

import asyncio
import json
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from mnemoir.core.data_directory import STORE_FILE
from mnemoir.core.memories import Memory
from mnemoir.core.scope import Scope
from mnemoir.core.text import content_hash
from mnemoir.storage.sealing.cells import Cells
from mnemoir.storage.sealing.key_ring import KeyRing
from mnemoir.storage.sealing.key_stores import KeyFile
from mnemoir.storage.sealing.providers import file_keys
from mnemoir.storage.sql import SqlMemoryStore
from mnemoir.storage.sqlite import open_database
from mnemoir.storage.sqlite.opening import open_key_store
from mnemoir.storage.sqlite.sealed_sql import sealing
from tests.cli.command_process import Done, run_here
from tests.contracts.words import ALL, ASKED, fact
from tests.storage.sealing_kit import a_key

SCOPE = Scope(project="default", user="mira")


@pytest.fixture
def mnemoir(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """`mnemoir` over a data directory; `sealed` with encryption on."""
    keys = tmp_path / "kek"
    keys.write_text(a_key())
    keys.chmod(0o600)
    (tmp_path / "mnemoir.yaml").write_text(
        "llm: {provider: offline}\n"
        f"encryption: {{mode: fields, key_file: {keys}, allow_plain: [conversations, pii]}}\n"
    )
    (tmp_path / "plain.yaml").write_text(f"llm: {{provider: offline}}\nencryption: {{key_file: {keys}}}\n")

    def run(*arguments: str, sealed: bool = True, **given: str) -> Done:
        where = (
            "--data-dir",
            str(tmp_path / "data"),
            "--config",
            str(tmp_path / ("mnemoir.yaml" if sealed else "plain.yaml")),
        )
        return run_here(*arguments, *where, cwd=tmp_path, capsys=capsys, **given)

    return run


def made(done: Done) -> dict:
    assert done.returncode == 0, done.stderr
    read: dict = json.loads(done.stdout)
    return read


def test_a_data_directory_is_encrypted_rotated_and_written_in_plain_again(mnemoir, tmp_path) -> None:
    assert mnemoir("memories", "add", "I like Zanzibarquince", "--user", "mira", sealed=False).returncode == 0
    assert made(mnemoir("encryption", "status", "--json", sealed=False))["users"] == 1
    stored = tmp_path / "data" / "mnemoir.db"
    assert b"Zanzibarquince" in stored.read_bytes()
    assert made(mnemoir("encryption", "apply", "--json")) == {"users": 1, "conversations": 0, "failed": 0}
    assert b"Zanzibarquince" not in stored.read_bytes()
    assert made(mnemoir("encryption", "rotate", "--user", "mira", "--json")) == {"rotated": 1}
    assert made(mnemoir("encryption", "status", "--json"))["encrypted"] == 1  # by a former key
    assert made(mnemoir("encryption", "apply", "--json")) == {"users": 1, "conversations": 0, "failed": 0}
    told = mnemoir("encryption", "status").stdout
    assert "1 of 1 encrypted" in told
    assert "of 0 of 0 users encrypted" in told
    assert made(mnemoir("encryption", "apply", "--json", sealed=False)) == {
        "users": 1,
        "conversations": 0,
        "failed": 0,
    }
    assert b"Zanzibarquince" in stored.read_bytes()


def test_keys_are_wrapped_anew_and_destroyed(mnemoir, tmp_path) -> None:
    mnemoir("keys", "create")
    mnemoir("memories", "add", "I like tea", "--user", "mira", API_KEYS="")
    (tmp_path / "kek").write_text(f"{a_key(2)}\n{a_key()}")
    assert made(mnemoir("encryption", "rewrap", "--json"))["rewrapped"] >= 1
    (tmp_path / "kek").write_text(a_key(2))
    assert made(mnemoir("encryption", "erase-key", "--user", "mira", "--yes", "--json"))["destroyed"] == 1
    assert made(mnemoir("encryption", "status", "--json"))["destroyed_keys"] == 1
    refused = mnemoir("memories", "list", "--user", "mira")
    assert (refused.returncode, "was destroyed" in refused.stderr) == (1, True)
    log = made(mnemoir("audit", "list", "--json"))["results"]
    assert [(one["action"], one["target"], one["result"]) for one in log[:2]] == [
        ("encryption.erase-key", "mira", "done"),
        ("encryption.erase-key", "mira", "begun"),
    ]


@pytest.mark.parametrize("store", ["secrets/data-keys.db", "elsewhere.db"])
def test_no_backup_holds_keys_of_encryption(mnemoir, tmp_path, store) -> None:
    data = tmp_path / "data"
    data.mkdir(0o700)
    (tmp_path / "kek").rename(data / "kek")
    settings = f"encryption: {{mode: fields, key_file: {data / 'kek'}, store: {data / store}}}\n"
    (tmp_path / "mnemoir.yaml").write_text(f"llm: {{provider: offline}}\n{settings}")
    assert mnemoir("memories", "add", "I like Zanzibarquince", "--user", "mira").returncode == 0
    told = mnemoir("backup", "create", str(tmp_path / "backup"), "--keys", "--all")
    assert (told.returncode, told.stderr.count("holds keys of encryption at rest")) == (0, 2)
    held = {path.name for path in (tmp_path / "backup").rglob("*")}
    assert ("mnemoir.db" in held, held & {"kek", Path(store).name}) == (True, set())


def test_the_keys_of_a_user_on_hold_are_not_destroyed(mnemoir) -> None:
    assert mnemoir("memories", "add", "I like Zanzibarquince", "--user", "mira").returncode == 0
    assert mnemoir("hold", "set", "mira", "--reason", "Case 12").returncode == 0
    refused = mnemoir("encryption", "erase-key", "--user", "mira", "--yes")
    assert (refused.returncode, "'mira' is on legal hold" in refused.stderr) == (1, True)
    assert "Zanzibarquince" in mnemoir("memories", "list", "--user", "mira").stdout
    assert mnemoir("hold", "clear", "mira").returncode == 0
    assert mnemoir("encryption", "erase-key", "--user", "mira", "--yes").returncode == 0


def test_the_key_store_is_copied_by_its_own_command_and_opens_the_data_again(mnemoir, tmp_path) -> None:
    assert mnemoir("memories", "add", "I like Zanzibarquince", "--user", "mira").returncode == 0
    copy, store = tmp_path / "safe" / "keys.db", tmp_path / "data" / "secrets" / "data-keys.db"
    assert made(mnemoir("encryption", "backup-keys", str(copy), "--json")) == {"copy": str(copy)}
    assert ([file.name for file in copy.parent.iterdir()], copy.stat().st_mode & 0o777) == (["keys.db"], 0o600)
    for refused in (copy, tmp_path / "data" / "keys.db"):
        told = mnemoir("encryption", "backup-keys", str(refused))
        assert (told.returncode, "Choose a new file elsewhere" in told.stderr) == (1, True)
    for file in store.parent.glob("data-keys.db*"):
        file.unlink()
    assert mnemoir("memories", "list", "--user", "mira").returncode == 1
    copy.rename(store)
    assert "Zanzibarquince" in mnemoir("memories", "list", "--user", "mira").stdout


def test_without_keys_or_a_user_it_says_what_to_do(mnemoir) -> None:
    assert "no key store" in mnemoir("encryption", "rewrap").stderr
    assert "--user NAME, or --all" in mnemoir("encryption", "rotate").stderr


@pytest.mark.slow
def test_a_rotation_that_is_killed_anywhere_goes_on_and_loses_nothing(mnemoir, tmp_path) -> None:
    path, count = tmp_path / "data" / "mnemoir.db", 2000
    mnemoir("memories", "add", "I like tea", "--user", "mira")
    asyncio.run(fill(path, cells_of(tmp_path), count))
    before = asyncio.run(all_of(path, cells_of(tmp_path)))
    for reached in (1, 900, 1900):
        mnemoir("encryption", "rotate", "--user", "mira")
        newest = f"{newest_key(tmp_path):08x}"
        program = subprocess.Popen(
            [sys.executable, "-m", "mnemoir", "encryption", "apply", "--data-dir", path.parent],
            cwd=tmp_path,
            stderr=subprocess.DEVNULL,
        )
        while program.poll() is None and sealed_by(path, newest) < reached:
            time.sleep(0.005)
        program.kill()
        program.wait()
        assert sealed_by(path, newest) >= reached
        assert asyncio.run(all_of(path, cells_of(tmp_path))) == before
    assert made(mnemoir("encryption", "apply", "--json")) == {"users": 1, "conversations": 0, "failed": 0}
    assert sealed_by(path, newest) == len(before)
    assert asyncio.run(all_of(path, cells_of(tmp_path))) == before


@pytest.mark.slow
def test_what_was_decrypted_by_half_is_encrypted_again(mnemoir, tmp_path) -> None:
    path, count = tmp_path / "data" / "mnemoir.db", 2000
    mnemoir("memories", "add", "I like tea", "--user", "mira")
    asyncio.run(fill(path, cells_of(tmp_path), count))
    mnemoir("encryption", "apply")
    before, key = asyncio.run(all_of(path, cells_of(tmp_path))), f"{newest_key(tmp_path):08x}"
    plain = ["--data-dir", str(path.parent), "--config", str(tmp_path / "plain.yaml")]
    program = subprocess.Popen(
        [sys.executable, "-m", "mnemoir", "encryption", "apply", *plain], cwd=tmp_path, stderr=subprocess.DEVNULL
    )
    while program.poll() is None and sealed_by(path, key) == len(before):
        time.sleep(0.001)
    program.kill()
    program.wait()
    assert sealed_by(path, key) < len(before)
    mnemoir("encryption", "apply")
    assert sealed_by(path, key) == len(before)
    assert asyncio.run(all_of(path, cells_of(tmp_path))) == before


def cells_of(folder: Path) -> Cells:
    return Cells(
        KeyRing(KeyFile(folder / "data" / STORE_FILE, open_key_store), file_keys(folder / "kek")), seals=True
    )


async def fill(path: Path, cells: Cells, count: int) -> None:
    database = open_database(path, sealing(cells))
    added = [fact(f"Fact {number}", scope=SCOPE) for number in range(count)]
    await SqlMemoryStore(database).commit(SCOPE, added, ASKED)
    await database.aclose()


async def all_of(path: Path, cells: Cells) -> list[Memory]:
    database = open_database(path, sealing(cells))
    assert await database.check_integrity() == []
    found = await SqlMemoryStore(database).page(SCOPE, ALL, limit=100_000)
    digests = [content_hash(memory.text) for memory in found if memory.kind == "fact"]
    assert len(await SqlMemoryStore(database).same_text(SCOPE, digests[:50])) == 50
    await database.aclose()
    return found


def newest_key(folder: Path, user: str = "mira") -> int:
    keys = cells_of(folder).keys
    return keys.current(("default", "default", user))


def sealed_by(path: Path, key: str) -> int:
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        connection.set_busy_timeout(5000)
        return int(connection.execute("SELECT count(*) FROM memories WHERE substr(text, 5, 8) = ?", (key,)).get)
