"""From when on a database must be there, and how that ends: with deletions, restores and losses of other files."""

import asyncio
import json
import shutil
import sqlite3
from contextlib import closing

import pytest

from mnemoir.access.access_file import AccessFile
from mnemoir.access.api_keys import ApiKeys
from mnemoir.app import open_parts
from mnemoir.core.conversations import SessionMetadata
from mnemoir.core.data_directory import ACCESS_FILE, DATABASE_FILE, IDENTITY_FILE, KEYS_MADE_FILE, PEPPER_FILE
from mnemoir.core.errors import StorageDamaged
from mnemoir.core.scope import Scope
from mnemoir.settings import Settings, load_settings
from mnemoir.storage.sql.conversation_marks import ConversationMarks
from mnemoir.storage.sqlite import open_database
from mnemoir.upkeep.backups import Choice, create_backup
from mnemoir.upkeep.losses import begin_anew, losses_in
from mnemoir.upkeep.restoring import restore_backup
from mnemoir.upkeep.subjects import Person
from tests.server.conversation_targets import at, begin, of
from tests.server.served_tree import served
from tests.server.server_kit import error_of
from tests.server.sign_in.page import joined
from tests.storage.sealing_kit import a_key

CONVERSATIONS = "conversations/default/mira/conversations.db"
USER = {"user_id": "mira"}
DAMAGED = (503, "storage_damaged")
MIRA = Scope(project="default", user="mira")


@pytest.fixture
def settings(tmp_path) -> Settings:
    return load_settings(None, {"storage.data_dir": str(tmp_path / "data")}, environ={})


def settings_of(folder) -> Settings:
    return load_settings(None, {"storage.data_dir": str(folder)}, environ={})


def make_key(settings: Settings) -> str:
    with closing(AccessFile(settings)) as file:
        return ApiKeys(file).create(role="admin", by="test")[1]


async def fill(open_server) -> None:
    server = await open_server()
    await begin(server, "tea", "I drink green tea.", **USER)
    await server.parts.aclose()


async def marked(server) -> list[Scope]:
    return [*await ConversationMarks(server.parts.memory.database).all()]


async def test_a_user_is_marked_before_the_first_message_and_not_by_a_question(open_server):
    server = await open_server()
    await server.get(at("", **USER))
    assert await marked(server) == []
    await begin(server, "tea", "I drink green tea.", **USER)
    assert await marked(server) == [MIRA]


async def test_the_mark_goes_with_all_conversations_and_stays_with_the_memories(open_server, settings):
    server = await open_server()
    await begin(server, "tea", "I drink green tea.", **USER)
    await server.ask("DELETE", "/api/memories?user_id=mira")
    assert await marked(server) == [MIRA]
    assert (await server.ask("DELETE", at("", **USER))).status == 200
    assert (await marked(server), losses_in(settings)) == ([], {})
    await begin(server, "rye", "I bake rye bread.", **USER)
    assert await marked(server) == [MIRA]


async def test_the_mark_goes_with_an_erased_person(open_server, settings):
    server = await open_server()
    await begin(server, "tea", "I drink green tea.", **USER)
    await server.parts.upkeep.subjects.erase(Person(tenant="default", user="mira"))
    assert (await marked(server), losses_in(settings)) == ([], {})
    assert (await server.get(at("", **USER)))["results"] == []


async def test_the_mark_goes_with_conversations_that_are_given_to_somebody(open_server, settings):
    server = await open_server()
    await begin(server, "tea", "I drink green tea.", **USER)
    await joined(server, "anna")
    anna = server.parts.access.users.with_hash("anna")[0]
    await server.parts.upkeep.adoption.adopt(anna, "mira")
    assert await marked(server) == [Scope(project="default", user="anna")]
    assert await server.parts.chats.conversations.ids(Scope(project="default", user="anna")) == ["tea"]
    async with server.parts.chats.conversations.of(MIRA):
        pass
    assert ([scope.user for scope in await marked(server)], losses_in(settings)) == (["anna", "mira"], {})


async def test_a_directory_that_is_copied_whole_works_as_before(open_server, tmp_path, settings):
    await fill(open_server)
    make_key(settings)
    shutil.copytree(tmp_path / "data", tmp_path / "copy")
    assert losses_in(settings_of(tmp_path / "copy")) == {}
    parts = await open_parts(settings_of(tmp_path / "copy"))
    assert await parts.chats.conversations.ids(MIRA) == ["tea"]
    await parts.aclose()


@pytest.mark.parametrize("keys", [True, False])
async def test_what_a_backup_restored_must_be_there_and_nothing_else(open_server, settings, tmp_path, keys):
    await fill(open_server)
    make_key(settings)
    await asyncio.to_thread(create_backup, settings, tmp_path / "backup", Choice(keys=keys))
    await asyncio.to_thread(restore_backup, tmp_path / "backup", tmp_path / "new", open_parts=open_parts)
    restored = settings_of(tmp_path / "new")
    assert losses_in(restored) == {}
    for name, is_lost in ((DATABASE_FILE, True), (ACCESS_FILE, keys), (CONVERSATIONS, True)):
        file, beside = tmp_path / "new" / name, tmp_path / "beside.db"
        if file.exists():
            file.rename(beside)
        assert (name in losses_in(restored)) == is_lost
        if beside.exists():
            beside.rename(file)
    await (await open_parts(restored)).aclose()


async def test_a_directory_that_lost_a_file_is_not_backed_up_as_if_it_never_had_it(open_server, settings, tmp_path):
    await fill(open_server)
    (tmp_path / "data" / CONVERSATIONS).unlink()
    with pytest.raises(StorageDamaged, match="is missing"):
        await asyncio.to_thread(create_backup, settings, tmp_path / "backup", Choice())
    assert not (tmp_path / "backup").exists()


async def test_keys_that_are_made_before_the_first_start_must_be_there_at_it(open_server, settings, tmp_path):
    make_key(settings)
    await (await open_server()).parts.aclose()
    (tmp_path / "data" / ACCESS_FILE).unlink()
    with pytest.raises(StorageDamaged):
        await open_server()
    with pytest.raises(StorageDamaged):
        make_key(settings)
    assert not (tmp_path / "data" / ACCESS_FILE).exists()


async def test_a_file_of_keys_whose_rows_are_gone_lets_nobody_in(open_server, settings, tmp_path):
    make_key(settings)
    with closing(sqlite3.connect(tmp_path / "data" / ACCESS_FILE)) as file, file:
        file.execute("DELETE FROM api_keys")
    with pytest.raises(StorageDamaged, match="neither keys nor people"):
        await open_server()


@pytest.mark.parametrize(
    "content", [None, b"", b"{", b"[]", b'{"id": 7, "expected": []}', b'{"id": "x", "expected": 1}']
)
async def test_without_its_identity_a_directory_is_not_opened_until_that_is_taken(
    open_server, settings, tmp_path, content
):
    await fill(open_server)
    key, file = make_key(settings), tmp_path / "data" / IDENTITY_FILE
    before = json.loads(file.read_bytes())
    file.unlink() if content is None else file.write_bytes(content)
    with pytest.raises(StorageDamaged, match=r"identity\.json"):
        await open_server()
    assert list(losses_in(settings)) == [IDENTITY_FILE]
    await asyncio.to_thread(begin_anew, settings, IDENTITY_FILE)
    assert json.loads(file.read_bytes()) == before
    server = await open_server()
    assert (await server.ask("GET", of("tea", **USER), **{"x-api-key": key})).status == 200


async def test_a_first_start_that_was_cut_anywhere_is_done_by_the_next(open_server, settings, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (data / IDENTITY_FILE).write_text(json.dumps({"id": "0" * 32, "expected": []}))  # and no database yet
    await (await open_server()).parts.aclose()
    (data / IDENTITY_FILE).write_text(json.dumps({"id": "0" * 32, "expected": []}))  # and not noted yet
    await (await open_server()).parts.aclose()
    assert json.loads((data / IDENTITY_FILE).read_bytes())["expected"] == [DATABASE_FILE]
    shutil.rmtree(data)
    await open_database(data / DATABASE_FILE).aclose()  # and neither has an id
    await (await open_server()).parts.aclose()
    assert losses_in(settings) == {}


async def test_a_first_message_that_was_cut_behind_its_file_is_repeated(open_server, settings, tmp_path):
    await fill(open_server)
    with closing(sqlite3.connect(tmp_path / "data" / DATABASE_FILE)) as file, file:
        file.execute("UPDATE scopes SET has_conversations = 0")
    server = await open_server()
    assert (await server.get(of("tea", **USER)))["id"] == "tea"
    assert await marked(server) == [MIRA]


async def test_databases_that_are_lost_while_the_server_runs_are_told_and_work_again_when_put_back(
    open_server, settings, tmp_path
):
    data, key = tmp_path / "data", make_key(settings)
    server = await open_server()
    headers = {"x-api-key": key}
    assert (await server.ask("POST", at("", **USER), {"id": "tea"}, **headers)).status == 201
    add = {"messages": [{"role": "user", "content": "I live in Graz."}], **USER, "infer": False}
    asked = {DATABASE_FILE: ("POST", "/api/memories", add), CONVERSATIONS: ("GET", of("tea", **USER), None)}
    for name, (method, target, body) in asked.items():
        (data / name).rename(tmp_path / "beside.db")
        assert error_of(await server.ask(method, target, body, **headers)) == DAMAGED, name
        assert not (data / name).exists()
        (tmp_path / "beside.db").rename(data / name)
        assert (await server.ask(method, target, body, **headers)).status == 200, name


async def test_without_its_keys_a_running_server_admits_nobody_until_they_are_back(open_server, settings, tmp_path):
    file, key = tmp_path / "data" / ACCESS_FILE, make_key(settings)
    server = await open_server()
    file.rename(tmp_path / "beside.db")
    with pytest.raises(StorageDamaged):
        server.parts.access.file.look(now=True)  # as the next second does
    for headers in ({}, {"x-api-key": f"{key}x"}):
        assert error_of(await server.ask("GET", at("", **USER), **headers)) == DAMAGED
    (tmp_path / "beside.db").rename(file)
    assert (await server.ask("GET", at("", **USER), **{"x-api-key": key})).status == 200


async def test_lost_conversations_are_named_by_the_status_and_readiness(open_server, tmp_path):
    await fill(open_server)
    (tmp_path / "data" / CONVERSATIONS).unlink()
    server = await open_server()
    assert (await server.get("/api/status"))["degraded"] == ["default/mira/conversations.db"]
    assert (await server.ask("GET", "/ready")).status == 200


@pytest.mark.parametrize("kind", ["project files", "elsewhere", "encrypted", "config tree"])
async def test_it_holds_wherever_and_however_conversations_are_kept(open_parts_over, tmp_path, kind):
    kinds = {
        "project files": {"storage.backend": "file", "storage.workspace_root": str(tmp_path / "work")},
        "elsewhere": {"memory.storage_path": str(tmp_path / "talk")},
        "encrypted": {"encryption.mode": "fields", "encryption.key_file": str(tmp_path / "kek")},
        "config tree": served(tmp_path, "http://127.0.0.1:9"),
    }
    (tmp_path / "kek").write_text(a_key())
    (tmp_path / "kek").chmod(0o600)
    given, root = kinds[kind], tmp_path / ("talk" if kind == "elsewhere" else "data/conversations")
    parts = await open_parts_over(given)
    async with parts.chats.conversations.of(MIRA) as own:
        own.log.create_session("tea", "", SessionMetadata())
    await parts.aclose()
    file, beside = root / "default/mira/conversations.db", tmp_path / "beside.db"
    file.rename(beside)
    parts = await open_parts_over(given)
    with pytest.raises(StorageDamaged, match="is missing"):
        await parts.chats.conversations.ids(MIRA)
    await parts.aclose()
    settings = load_settings(None, {"storage.data_dir": str(tmp_path / "data"), **given}, environ={})
    (name,) = losses_in(settings)
    assert name == (str(file) if kind == "elsewhere" else CONVERSATIONS)
    beside.rename(file)
    parts = await open_parts_over(given)
    assert await parts.chats.conversations.ids(MIRA) == ["tea"]
    await parts.aclose()
    file.unlink()
    await asyncio.to_thread(begin_anew, settings, name)
    assert await (await open_parts_over(given)).chats.conversations.ids(MIRA) == []


def forget_expectations(data) -> None:
    """Edit the identity, so that it says that no database must be there."""
    told = json.loads((data / IDENTITY_FILE).read_text())
    (data / IDENTITY_FILE).write_text(json.dumps({**told, "expected": []}))


def another_identity(data) -> None:
    (data / IDENTITY_FILE).write_text(json.dumps({"id": "0" * 32, "expected": []}))


def without_keys(data) -> None:
    with closing(sqlite3.connect(data / ACCESS_FILE)) as file, file:
        file.execute("DELETE FROM api_keys")


@pytest.mark.parametrize("lose", [lambda data: (data / ACCESS_FILE).unlink(), without_keys], ids=["file", "rows"])
@pytest.mark.parametrize("edit", [forget_expectations, another_identity])
async def test_a_directory_with_keys_does_not_open_to_all_whatever_its_identity_says(
    open_server, settings, tmp_path, edit, lose
):
    make_key(settings)
    lose(tmp_path / "data")
    edit(tmp_path / "data")
    with pytest.raises(StorageDamaged, match=r"access\.db .*--begin-anew access\.db"):
        await open_server()
    assert ACCESS_FILE in losses_in(settings)


async def test_the_loss_of_the_keys_can_be_taken_and_leaves_no_mark(open_server, settings, tmp_path):
    make_key(settings)
    (tmp_path / "data" / ACCESS_FILE).unlink()
    forget_expectations(tmp_path / "data")
    await asyncio.to_thread(begin_anew, settings, ACCESS_FILE)
    assert not (tmp_path / "data" / KEYS_MADE_FILE).exists()
    assert (await (await open_server()).ask("GET", "/api/projects")).status == 200


async def test_a_mark_that_is_gone_is_made_again(open_server, settings, tmp_path):
    make_key(settings)
    (tmp_path / "data" / KEYS_MADE_FILE).unlink()
    server = await open_server()
    assert (await server.ask("GET", "/api/projects")).status == 401
    assert (tmp_path / "data" / KEYS_MADE_FILE).exists()


async def test_a_pepper_of_a_server_without_keys_expects_none(open_server, settings, tmp_path):
    server = await open_server()
    server.parts.access.file.secret_for("personal data")
    await server.parts.aclose()
    assert (tmp_path / "data" / PEPPER_FILE).exists()
    server = await open_server()
    assert ((await server.ask("GET", "/api/projects")).status, losses_in(settings)) == (200, {})
