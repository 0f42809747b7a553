"""Keys, people and the audit log: what one program changes, another one over the same database notices."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mnemoir.access.access_file import AccessFile
from mnemoir.access.api_keys import ApiKeys
from mnemoir.access.audit import Audit
from mnemoir.access.sign_in.users import Users
from mnemoir.access.tenants import Tenants
from mnemoir.core.errors import Conflict, InvalidRequest, StorageDamaged, StorageUnavailable
from mnemoir.core.users import Grant
from mnemoir.settings import load_settings
from tests.postgres_server import psycopg_module
from tests.server.storages import FILES, postgres, settings_of

Program = Callable[[], AccessFile]


@contextmanager
def programs(storage: Mapping[str, object], folder: Path) -> Iterator[Program]:
    """Opens the database of these settings as one more program does; all are closed at the end."""
    settings = load_settings(None, {"storage.data_dir": str(folder / "data"), **storage}, environ={})
    opened: list[AccessFile] = []

    def start() -> AccessFile:
        opened.append(AccessFile(settings))
        return opened[-1]

    yield start
    for file in opened:
        file.close()


@pytest.fixture(params=[FILES, postgres(18), postgres(15)])
def program(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Program]:
    """One more program over a database of each kind."""
    with settings_of(request.param, tmp_path) as storage, programs(storage, tmp_path) as start:
        yield start


def seconds_until(is_so: Callable[[], bool]) -> float:
    """How long it takes; fails after half a minute."""
    began = time.monotonic()
    while not is_so():
        assert time.monotonic() < began + 30
        time.sleep(0.01)
    return time.monotonic() - began


def test_a_key_opens_at_once_in_another_program_and_is_dead_there_soon(program):
    here, there = ApiKeys(program()), ApiKeys(program())
    assert not there.are_required(is_local=True)
    key, text = here.create(role="read", by="test")
    found = there.principal(text)
    assert found is not None
    assert found.roles == ("read",)
    seconds_until(lambda: there.are_required(is_local=True))
    here.revoke(key.id)
    assert here.principal(text) is None
    seconds_until(lambda: there.principal(text) is None)


def test_a_key_that_was_known_as_none_opens_once_it_is_made(program):
    here, there = ApiKeys(program()), ApiKeys(program())
    here.create(role="read", by="test")
    assert there.principal("mn_live_abcdefgh_" + "x" * 43) is None
    _, text = here.create(role="write", by="test")
    assert there.principal(text) is not None


def test_limits_and_the_end_of_a_tenant_are_noticed(program):
    here, there = program(), program()
    seen = Tenants(there)
    assert (seen.limits_of("acme"), seen.is_suspended("acme")) == ({}, False)
    Tenants(here).put("acme", limits={"memories": 3}, suspended=True)
    seconds_until(lambda: seen.is_suspended("acme"))
    assert seen.limits_of("acme") == {"memories": 3}
    Tenants(here).put("acme", suspended=False)
    seconds_until(lambda: not seen.is_suspended("acme"))


def test_programs_that_write_at_once_leave_one_unbroken_chain(program):
    files = [program() for _ in range(4)]
    settings = load_settings(None, {"storage.data_dir": "data"}, environ={})
    ApiKeys(files[0]).create(role="admin", by="test")  # and so the pepper, once

    def write(file: AccessFile) -> None:
        keys = ApiKeys(file)
        for number in range(10):
            keys.create(role="read", by=f"program {number}")

    threads = [threading.Thread(target=write, args=(file,)) for file in files]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    log, key = files[1].audit_log()
    entries = log.newest(None, limit=100)
    assert [entry.number for entry in entries] == [*range(41, 0, -1)]
    assert log.problems(key, open_before=datetime.now(UTC)) == []
    assert Audit(settings, files[2]).problems() == []


def test_a_name_is_taken_once_by_people_who_join_at_once(program):
    files = [program() for _ in range(3)]
    invitations = [Users(file).invite(Grant(role="read"), by="test") for file in files]
    joined: list[str] = []
    refused: list[Exception] = []

    def join(file: AccessFile, token: str) -> None:
        try:
            joined.append(Users(file).join(token, "Mira", password_hash="x")[0].id)
        except (Conflict, InvalidRequest) as exc:
            refused.append(exc)

    threads = [
        threading.Thread(target=join, args=(file, token)) for file, (_, token) in zip(files, invitations, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(joined), len(refused)) == (1, 2)
    assert [user.name for user in Users(files[0]).users_page(None, limit=10)] == ["Mira"]


@pytest.fixture(params=[postgres(18), postgres(15)])
def watched(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Program, str]]:
    """The same over PostgreSQL alone, with its connection string."""
    with settings_of(request.param, tmp_path) as storage, programs(storage, tmp_path) as start:
        yield start, storage["storage.postgres.dsn"]


def test_keys_that_changed_while_they_could_not_be_looked_up_are_known_again_afterwards(watched):
    program, dsn = watched
    here, tenants = program(), Tenants(program())
    keys = ApiKeys(here)
    _, text = keys.create(role="read", by="test")
    assert keys.principal(text) is not None
    with psycopg_module().connect(dsn) as other:
        other.execute("UPDATE mnemoir.versions SET number = number + 1 WHERE subject = 'access'")
        other.commit()
        other.execute("LOCK TABLE mnemoir.api_keys")
        other.execute("LOCK TABLE mnemoir.tenants")
        seconds_until(lambda: is_refused(lambda: keys.principal(text)))
    seconds_until(lambda: not is_refused(lambda: keys.principal(text)))
    assert keys.principal(text) is not None
    assert not tenants.is_suspended("default")


def test_a_copy_of_before_in_the_place_of_the_database_lets_nobody_in(watched):
    program, dsn = watched
    keys = ApiKeys(program())
    *_, (_, text) = [keys.create(role="read", by="test") for _ in range(5)]
    assert keys.principal(text) is not None
    with psycopg_module().connect(dsn) as other:
        other.execute("UPDATE mnemoir.versions SET number = 1 WHERE subject = 'access'")
    seconds_until(lambda: is_refused(lambda: keys.principal(text)))
    with pytest.raises(StorageDamaged, match="Restart the server"):
        keys.create(role="read", by="test")
    assert ApiKeys(program()).principal(text) is not None


def is_refused(work: Callable[[], object]) -> bool:
    try:
        work()
    except StorageUnavailable:
        return True
    return False
