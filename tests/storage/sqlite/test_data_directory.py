"""The directory: private, of one process at a time, and never begun anew over what was there."""

import asyncio
import os
import shutil
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.sql import SqlMemoryStore
from mnemoir.storage.sqlite import open_database
from tests.contracts.words import ASKED, MIRA, fact, keep, message, texts
from tests.narrowing import present

HOLDER = """
import sys
from pathlib import Path
from mnemoir.storage.sqlite import open_database
database = open_database(Path(sys.argv[1]))
print("open", flush=True)
sys.stdin.read()
"""


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


async def test_everything_is_private_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        database = open_database(tmp_path / "a" / "mnemoir.db")
        await keep(SqlMemoryStore(database), fact("Likes tea"))
    finally:
        os.umask(before)
    folder = tmp_path / "a"
    names = ["mnemoir.db", "mnemoir.db-shm", "mnemoir.db-wal", "mnemoir.lock"]
    assert {file.name: mode(file) for file in folder.iterdir()} == dict.fromkeys(names, 0o600)
    assert mode(folder) == 0o700
    await database.aclose()


async def test_a_file_that_others_could_read_is_made_private(path):
    await open_database(path).aclose()
    path.chmod(0o644)
    await open_database(path).aclose()
    assert mode(path) == 0o600


async def test_a_second_process_is_refused_with_the_name_of_the_first(path):
    holder = subprocess.Popen(  # noqa: ASYNC220 - a loop of one test has nobody to hold up
        [sys.executable, "-c", HOLDER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert present(holder.stdout).readline() == "open\n"
        with pytest.raises(StorageUnavailable, match=f"in use by another Mnemoir process .pid {holder.pid} on "):
            open_database(path)
    finally:
        holder.kill()
        holder.communicate()
    await open_database(path).aclose()  # the kernel let go of what the killed process held


async def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageUnavailable, match=r"mnemoir\.db"):
        open_database(tmp_path / "file" / "mnemoir.db")


async def test_another_programs_database_is_refused_and_left_alone(path):
    path.parent.mkdir()
    other = apsw.Connection(str(path))
    other.execute("CREATE TABLE theirs (x)")
    other.close()
    with pytest.raises(StorageUnavailable, match="not a database of Mnemoir"):
        open_database(path)
    other = apsw.Connection(str(path))
    assert [row[0] for row in other.execute("SELECT name FROM sqlite_schema")] == ["theirs"]
    other.close()


@pytest.fixture
async def written(path):
    """A closed database with two hundred memories."""
    database = open_database(path)
    store = SqlMemoryStore(database)
    await store.commit(MIRA, [message(f"Said {n}") for n in range(200)], ASKED)
    await database.aclose()
    return path


def places(size: int) -> list[int]:
    return [0, 1, 17, 30, 40, 60, 100, *(size * n // 13 for n in range(1, 13)), size - 1]


async def look(path) -> str:
    """How a start goes: refused, or how many memories it shows."""
    try:
        database = open_database(path)
    except StorageUnavailable as exc:
        return "refused" if "mnemoir.db" in str(exc) else str(exc)
    try:
        return str(len(await texts(SqlMemoryStore(database))))
    except StorageUnavailable as exc:
        return "refused" if "mnemoir.db" in str(exc) else str(exc)
    finally:
        await database.aclose()


@pytest.mark.slow
async def test_a_flipped_byte_anywhere_is_refused_or_harmless(written):
    whole, seen = written.read_bytes(), set()
    for place in places(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        written.write_bytes(damaged)
        seen.add(await look(written))
    assert seen == {"refused", "200"}


@pytest.mark.slow
async def test_a_file_cut_short_anywhere_is_refused_and_not_touched(written):
    whole = written.read_bytes()
    for size in places(len(whole)):
        written.write_bytes(whole[:size])
        assert await look(written) == "refused"
        assert written.read_bytes() == whole[:size]


async def test_integrity_names_what_is_wrong(written):
    connection = apsw.Connection(str(written))
    connection.execute("DELETE FROM entries WHERE seq = 7; DELETE FROM history WHERE number = 8")
    connection.close()
    database = open_database(written)
    (seventh, eighth) = (await SqlMemoryStore(database).reading(lambda v: v.memories(MIRA, [7, 8]))).values()
    assert await database.check_integrity() == [
        f"memory {seventh.id} has no words",
        f"memory {eighth.id} has no history",
    ]
    await database.aclose()


CRASH = """
import asyncio, os, sys
from pathlib import Path
from mnemoir.storage.sql import SqlMemoryStore
from mnemoir.storage.sqlite import open_database
from tests.contracts.words import ASKED, MIRA, message
async def main():
    store = SqlMemoryStore(open_database(Path(sys.argv[1])))
    for n in range(20):
        await store.commit(MIRA, [message(f"Said {n} {k}") for k in range(10)], ASKED)
    os._exit(9)
asyncio.run(main())
"""


@pytest.fixture
def crashed(path):
    """A data directory as a crash left it: two hundred memories, all in the write-ahead log."""
    assert subprocess.run([sys.executable, "-c", CRASH, path], check=False).returncode == 9
    assert path.with_name("mnemoir.db-wal").stat().st_size > 100_000
    return path


async def test_after_a_crash_everything_is_read_from_the_log(crashed):
    assert await look(crashed) == "200"


async def test_a_damaged_log_is_refused_at_every_start(crashed, tmp_path):
    whole = crashed.with_name("mnemoir.db-wal").read_bytes()
    seen = set()
    for n, place in enumerate(places(len(whole))):
        for cut in (False, True):
            folder = tmp_path / f"copy {n} {cut}"
            shutil.copytree(crashed.parent, folder)
            damaged = bytearray(whole)
            damaged[place] ^= 0xFF
            (folder / "mnemoir.db-wal").write_bytes(whole[:place] if cut else damaged)
            first = await look(folder / "mnemoir.db")
            assert await look(folder / "mnemoir.db") == first
            seen.add(first)
    assert seen <= {"refused", "200"}
    assert "refused" in seen


async def test_a_log_whose_database_is_missing_is_refused(crashed):
    crashed.unlink()
    with pytest.raises(StorageUnavailable, match="is missing"):
        open_database(crashed)
    assert not crashed.exists()


def test_a_crash_of_the_whole_machine_leaves_an_old_index_that_counts_for_nothing(crashed):
    crashed.with_name("mnemoir.db-shm").unlink()
    assert asyncio.run(look(crashed)) == "200"
