"""A database that is missing, emptied or of another directory is told as damage, and nothing begins in its place."""

import asyncio
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from mnemoir.access.access_file import AccessFile
from mnemoir.core.data_directory import ACCESS_FILE, DATABASE_FILE, IDENTITY_FILE, PEPPER_FILE
from mnemoir.core.errors import InvalidRequest, StorageDamaged
from mnemoir.core.scope import Scope
from mnemoir.settings import Settings, load_settings
from mnemoir.upkeep.losses import begin_anew, losses_in
from tests.server.conversation_targets import at, begin, of
from tests.server.server_kit import error_of
from tests.server.sign_in.page import joined

CONVERSATIONS = "conversations/default/mira/conversations.db"
USER = {"user_id": "mira"}
DAMAGED = (503, "storage_damaged")


def remove(file: Path, others: Path) -> None:
    file.unlink()


def empty(file: Path, others: Path) -> None:
    file.write_bytes(b"")


def replace(file: Path, others: Path) -> None:
    shutil.copyfile(others, file)


def strip(file: Path, others: Path) -> None:
    """Leave a database in which no table is left."""
    with closing(sqlite3.connect(file)) as stripped:
        names = stripped.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
        stripped.execute("PRAGMA foreign_keys = OFF")
        for (name,) in names.fetchall():
            stripped.execute(f"DROP TABLE {name}")
        stripped.execute("VACUUM")


WAYS = (remove, empty, replace)


async def fill(open_server, words: str = "I drink green tea.") -> str:
    """Mira's conversation and an admin's key, in a data directory that is closed again; the key."""
    server = await open_server()
    await begin(server, "tea", words, **USER)
    with_keys = server.parts.access.api_keys
    _, key = with_keys.create(role="admin", by="test")
    await server.parts.aclose()
    return str(key)


def files_of(data: Path) -> dict[str, bytes]:
    """What a start or a request may change only where it is let: everything but locks."""
    return {
        file.relative_to(data).as_posix(): file.read_bytes()
        for file in sorted(data.rglob("*"))
        if file.is_file() and not file.name.endswith((".lock", "-wal", "-shm"))
    }


@pytest.fixture
async def lost(open_server, tmp_path) -> Callable[[str, Callable[[Path, Path], None]], str]:
    """Fill a directory and lose a file of it in one way; the key that was made in it. The file lies beside, too."""
    key = await fill(open_server)
    data = tmp_path / "data"
    data.rename(tmp_path / "other")
    own = await fill(open_server)
    assert own != key
    shutil.copytree(data, tmp_path / "whole")

    def lose(name: str, way: Callable[[Path, Path], None]) -> str:
        way(data / name, tmp_path / "other" / name)
        return own

    return lose


@pytest.mark.parametrize("way", [*WAYS, strip])
@pytest.mark.parametrize("name", [DATABASE_FILE, ACCESS_FILE])
async def test_without_its_database_or_its_keys_a_server_does_not_start_and_writes_nothing(
    lost, open_server, tmp_path, name, way
):
    key, data = lost(name, way), tmp_path / "data"
    before = files_of(data)
    with pytest.raises(StorageDamaged, match=f"{name} .*--begin-anew {name}"):
        await open_server()
    assert files_of(data) == before
    shutil.copyfile(tmp_path / "whole" / name, data / name)
    server = await open_server()
    assert (await server.ask("GET", of("tea", **USER))).status == 401
    assert (await server.ask("GET", of("tea", **USER), **{"x-api-key": key})).status == 200


@pytest.mark.parametrize("way", [*WAYS, strip])
async def test_without_their_conversations_a_user_is_told_so_and_nothing_is_written(lost, open_server, tmp_path, way):
    key, data = lost(CONVERSATIONS, way), tmp_path / "data"
    if way is remove:
        shutil.rmtree((data / CONVERSATIONS).parent)
    before = {name: text for name, text in files_of(data).items() if name.startswith("conversations")}
    server = await open_server()
    headers = {"x-api-key": key}
    for method, target, body in (
        ("GET", at("", **USER), None),
        ("GET", of("tea", **USER), None),
        ("GET", at("/export", **USER), None),
        ("GET", at("/search", q="tea", **USER), None),
        ("POST", at("", **USER), {"id": "new"}),
        ("DELETE", of("tea", **USER), None),
    ):
        assert error_of(await server.ask(method, target, body, **headers)) == DAMAGED, (method, target)
    said = {"model": "mnemoir", "messages": [{"role": "user", "content": "Hello."}], "user": "mira"}
    kept = {**said, "conversation_id": "new", "memoryEnabled": True}
    assert (await server.ask("POST", "/v1/chat/completions", kept, **headers)).status == 200
    assert {name: text for name, text in files_of(data).items() if name.startswith("conversations")} == before
    assert (await server.ask("GET", at("", user_id="otto"), **headers)).status == 200
    await server.parts.aclose()
    (data / CONVERSATIONS).parent.mkdir(exist_ok=True)
    shutil.copyfile(tmp_path / "whole" / CONVERSATIONS, data / CONVERSATIONS)
    server = await open_server()
    assert (await server.ask("GET", of("tea", **USER), **headers)).status == 200


@pytest.fixture
def settings(tmp_path) -> Settings:
    return load_settings(None, {"storage.data_dir": str(tmp_path / "data")}, environ={})


def entries(data: Path) -> list[tuple[str, str]]:
    """What the audit log tells of losses that were taken."""
    with closing(sqlite3.connect(data / ACCESS_FILE)) as file:
        return file.execute("SELECT action, target FROM audit WHERE action = 'files.begin_anew'").fetchall()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", [DATABASE_FILE, ACCESS_FILE, CONVERSATIONS])
async def test_a_loss_that_is_taken_as_it_is_begins_anew_and_stands_in_the_audit_log(
    lost, open_server, settings, tmp_path, name, way
):
    key, data = lost(name, way), tmp_path / "data"
    assert list(losses_in(settings)) == [name]
    lay_there = (data / name).read_bytes() if (data / name).exists() else None
    begun = await asyncio.to_thread(begin_anew, settings, name)
    assert (begun.kept_as and begun.kept_as.read_bytes()) == lay_there
    assert (losses_in(settings), (data / name).exists()) == ({}, name == ACCESS_FILE)
    assert entries(data) == [("files.begin_anew", name)]
    server = await open_server()
    answer = await server.ask("GET", of("tea", **USER), **{"x-api-key": key})
    assert answer.status == (404 if name == CONVERSATIONS else 200)
    assert (await server.ask("GET", at("", **USER))).status == (200 if name == ACCESS_FILE else 401)
    created = await server.ask("POST", at("", **USER), {"id": "new"}, **{"x-api-key": key})
    assert created.status == 201, created.body


async def test_what_is_there_is_not_begun_anew(lost, settings, tmp_path):
    before = files_of(tmp_path / "data")
    for name in (
        DATABASE_FILE,
        ACCESS_FILE,
        IDENTITY_FILE,
        CONVERSATIONS,
        "conversations/default/otto/conversations.db",
    ):
        with pytest.raises(InvalidRequest, match="is not lost"):
            begin_anew(settings, name)
    assert files_of(tmp_path / "data") == before


IDENTITY_LOST = r"identity\.json is missing, and .* --begin-anew identity\.json"
DATABASES = (IDENTITY_FILE, DATABASE_FILE, ACCESS_FILE)


@pytest.mark.parametrize("rest", [CONVERSATIONS, "erased.jsonl", PEPPER_FILE])
async def test_without_all_of_its_databases_a_directory_is_no_new_one(open_server, settings, tmp_path, rest):
    key, data = await fill(open_server), tmp_path / "data"
    (data / "erased.jsonl").touch()
    shutil.copytree(data, tmp_path / "whole")
    for file in [file for file in data.rglob("*") if file.is_file() and file != data / rest]:
        file.unlink()
    before = files_of(data)
    with pytest.raises(StorageDamaged, match=IDENTITY_LOST):
        await open_server()
    assert (files_of(data), list(losses_in(settings))) == (before, [IDENTITY_FILE])
    shutil.rmtree(data)
    shutil.copytree(tmp_path / "whole", data)
    server = await open_server()
    assert (await server.ask("GET", of("tea", **USER))).status == 401
    assert (await server.ask("GET", of("tea", **USER), **{"x-api-key": key})).status == 200


async def test_conversations_elsewhere_tell_too_that_a_directory_is_no_new_one(open_server, tmp_path):
    elsewhere = {"memory.storage_path": str(tmp_path / "talk")}
    server = await open_server(elsewhere)
    await begin(server, "tea", "I drink green tea.", **USER)
    await server.parts.aclose()
    shutil.rmtree(tmp_path / "data")
    with pytest.raises(StorageDamaged, match=IDENTITY_LOST):
        await open_server(elsewhere)
    there = load_settings(None, {"storage.data_dir": str(tmp_path / "data")} | elsewhere, environ={})
    assert list(losses_in(there)) == [IDENTITY_FILE]
    await asyncio.to_thread(begin_anew, there, IDENTITY_FILE)
    assert (await (await open_server(elsewhere)).get(of("tea", **USER)))["id"] == "tea"


async def test_what_is_left_of_a_directory_without_databases_can_be_taken_as_it_is(open_server, settings, tmp_path):
    await fill(open_server)
    for name in DATABASES:
        (tmp_path / "data" / name).unlink()
    await asyncio.to_thread(begin_anew, settings, IDENTITY_FILE)
    assert list(losses_in(settings)) == [ACCESS_FILE]  # that there were keys is seen by their pepper
    with pytest.raises(StorageDamaged, match=r"access\.db is missing"):
        await open_server()
    await asyncio.to_thread(begin_anew, settings, ACCESS_FILE)
    server = await open_server()
    assert (await server.get(of("tea", **USER)))["id"] == "tea"
    assert (losses_in(settings), entries(tmp_path / "data")) == ({}, [("files.begin_anew", ACCESS_FILE)])


@pytest.mark.parametrize("gone", [DATABASES[:1], DATABASES[:2], (IDENTITY_FILE, ACCESS_FILE)])
async def test_the_way_back_of_a_missing_identity_is_that_of_the_identity(open_server, settings, tmp_path, gone):
    await fill(open_server)
    for name in gone:
        (tmp_path / "data" / name).unlink()
    before = files_of(tmp_path / "data")
    with pytest.raises(StorageDamaged, match=IDENTITY_LOST):
        await open_server()
    with pytest.raises(StorageDamaged, match=IDENTITY_LOST):
        AccessFile(settings).open_or_create()
    assert files_of(tmp_path / "data") == before


def swap(mine: Path, others: Path) -> None:
    shutil.copyfile(others, mine)


def link_file(mine: Path, others: Path) -> None:
    mine.unlink()
    mine.symlink_to(others)


def link_folder(mine: Path, others: Path) -> None:
    shutil.rmtree(mine.parent)
    mine.parent.symlink_to(others.parent)


def link_objects(mine: Path, others: Path) -> None:
    """What messages and nodes keep beside the database."""
    (mine.parent / "objects").symlink_to(others.parent)


@pytest.mark.parametrize("way", [swap, link_file, link_folder, link_objects])
async def test_conversations_of_somebody_else_are_never_a_users_own(open_server, settings, tmp_path, way):
    server = await open_server()
    for user in ("mira", "otto"):
        await begin(server, "tea", f"Of {user}.", user_id=user)
    await server.parts.aclose()
    mine = tmp_path / "data" / CONVERSATIONS
    shutil.copytree(mine.parent, tmp_path / "kept")
    way(mine, tmp_path / "data" / "conversations/default/otto/conversations.db")
    server = await open_server()
    for target in (of("tea", **USER), at("", **USER), at("/export", **USER)):
        assert error_of(await server.ask("GET", target)) == DAMAGED
    assert error_of(await server.ask("POST", at("", **USER), {"id": "new"})) == DAMAGED
    assert (await server.get(of("tea", user_id="otto")))["id"] == "tea"
    await server.parts.aclose()
    assert list(losses_in(settings)) == ([] if way is link_objects else [CONVERSATIONS])
    if way in (link_file, link_folder):  # nothing is renamed through a link
        with pytest.raises(StorageDamaged, match="is a link"):
            await asyncio.to_thread(begin_anew, settings, CONVERSATIONS)
    mine.parent.unlink() if way is link_folder else shutil.rmtree(mine.parent)
    shutil.copytree(tmp_path / "kept", mine.parent)
    assert (await (await open_server()).get(of("tea", **USER)))["id"] == "tea"


async def test_a_copied_folder_is_not_of_the_user_whose_name_it_has(open_server, settings, tmp_path):
    server = await open_server()
    await begin(server, "tea", "I drink green tea.", **USER)
    await server.parts.aclose()
    mine = tmp_path / "data" / CONVERSATIONS
    shutil.copytree(mine.parent, mine.parent.with_name("carol"))
    name = CONVERSATIONS.replace("mira", "carol")
    server = await open_server()
    for target in (of("tea", user_id="carol"), at("", user_id="carol"), at("/export", user_id="carol")):
        assert error_of(await server.ask("GET", target)) == DAMAGED
    assert (await server.get(of("tea", **USER)))["id"] == "tea"
    await server.parts.aclose()
    assert list(losses_in(settings)) == [name]
    await asyncio.to_thread(begin_anew, settings, name)
    server = await open_server()
    assert (await server.get(at("", user_id="carol")))["results"] == []
    assert (await server.get(of("tea", **USER)))["id"] == "tea"


async def test_what_is_given_to_somebody_is_theirs_from_then_on(open_server, settings, tmp_path):
    server = await open_server()
    await begin(server, "tea", "I drink green tea.", **USER)
    await joined(server, "anna")
    anna = server.parts.access.users.with_hash("anna")[0]
    await server.parts.upkeep.adoption.adopt(anna, "mira")
    await server.parts.aclose()
    server = await open_server()
    assert await server.parts.chats.conversations.ids(Scope(project="default", user="anna")) == ["tea"]
    await server.parts.aclose()
    assert losses_in(settings) == {}
    given = tmp_path / "data" / "conversations/default/anna/conversations.db"
    with closing(sqlite3.connect(given)) as file:
        assert file.execute("SELECT owner FROM identity").fetchall() == [("default/anna",)]
