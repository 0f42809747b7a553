"""Until a version is released, a file that was made by another schema of Mnemoir is refused and left as it is."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.conversations.sqlite_sessions import MemoryStorage
from mnemoir.storage.conversations.vector_file import VectorFileStore
from mnemoir.storage.sqlite.data_file import Step, known_steps, version_of
from mnemoir.storage.sqlite.database import open_database, read_beside
from mnemoir.storage.sqlite.directory_identity import DirectoryIdentity
from mnemoir.storage.sqlite.opening import open_access_file, open_key_store, open_run_file
from mnemoir.storage.sqlite.shared_file import SharedFile

UNRELEASED = "was made by an unreleased Mnemoir"
NEXT_STEP = "take its memories along with `export` of the program that made it, and start with an empty directory"
OTHER_DIGEST = "UPDATE migrations SET name = 'of another text'"
OTHER_VERSION = "PRAGMA user_version = 6"
BEFORE_DIGESTS = "PRAGMA user_version = 0"


async def opened_database(path: Path) -> None:
    await open_database(path).aclose()


def closed(open_file: Callable[[Path], Any]) -> Callable[[Path], Awaitable[None]]:
    """A function that opens and closes a file."""

    async def opened(path: Path) -> None:
        open_file(path).close()

    return opened


def access_file(path: Path) -> SharedFile:
    return open_access_file(path, DirectoryIdentity(path.parent))


def vectors(path: Path) -> VectorFileStore:
    return VectorFileStore("messages", path.parent)


@pytest.mark.parametrize(
    ("name", "opened", "statement"),
    [
        ("mnemoir.db", opened_database, OTHER_DIGEST),
        ("access.db", closed(access_file), OTHER_DIGEST),
        ("runs.db", closed(open_run_file), OTHER_DIGEST),
        ("data-keys.db", closed(open_key_store), OTHER_DIGEST),
        ("conversations.db", closed(MemoryStorage), OTHER_VERSION),
        ("messages.vectors.db", closed(vectors), OTHER_VERSION),
        ("messages.vectors.db", closed(vectors), BEFORE_DIGESTS),
    ],
)
async def test_a_file_of_another_schema_is_refused_and_left_as_it_is(tmp_path, name, opened, statement):
    await opened(path := tmp_path / name)
    connection = apsw.Connection(str(path))
    connection.execute(statement)
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StorageUnavailable, match=UNRELEASED) as refused:
        await opened(path)
    assert NEXT_STEP in refused.value.message
    assert str(path) in refused.value.message
    assert path.read_bytes() == before


async def test_what_reads_beside_a_server_refuses_it_too(path):
    await opened_database(path)
    connection = apsw.Connection(str(path))
    connection.execute(OTHER_DIGEST)
    connection.close()
    with pytest.raises(StorageUnavailable, match=UNRELEASED):
        read_beside(path, lambda sql: None)


@pytest.mark.parametrize("kind", ["", "access", "keys", "runs", "sessions", "vectors"])
def test_every_kind_of_file_has_one_step_until_a_version_is_released(kind):
    assert [step.number for step in known_steps(kind)] == [1]


def test_any_other_text_of_a_step_is_another_schema():
    (step,) = known_steps("sessions")
    other = Step(number=1, name="other", kind="expand", sql=step.sql)
    assert version_of([other]) != version_of([step])
    assert 0 < version_of([step]) < 2**31
