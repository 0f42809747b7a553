"""Backups are encrypted on request, and who was erased after a backup is not in what is restored from it."""

import asyncio
import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from mnemoir.app import open_parts
from mnemoir.core.conversations import MessageRecord
from mnemoir.core.errors import InvalidRequest, StorageUnavailable
from mnemoir.core.scope import Scope
from mnemoir.core.users import Grant
from mnemoir.memory.facts.holding import FACT
from mnemoir.server import ServerOptions, create_app
from mnemoir.settings import Settings, load_settings
from mnemoir.storage.backups.manifest import DATA_FOLDER
from mnemoir.storage.backups.sealing import BackupKey
from mnemoir.storage.tombstones import add_tombstone, read_tombstones
from mnemoir.upkeep.backups import Choice, create_backup, create_kept_backup
from mnemoir.upkeep.restoring import problems_in, restore_backup
from mnemoir.upkeep.subjects import Person
from tests.narrowing import present
from tests.postgres_server import servers
from tests.server.server_kit import Server
from tests.storage.sealing_kit import a_key

WORD = "Zanzibarquince"
MIRA, OTTO, ODD = "mira", "otto", "odd:user/" + "x" * 120  # the last one has an encoded folder
VERA = "vera.zanzibar"  # signs in and keeps nothing
CHOICE = Choice(keys=True, all=True)


def settings_of(folder: Path, **more: str) -> Settings:
    return load_settings(None, {"storage.data_dir": str(folder), "llm.provider": "offline"} | more, environ={})


async def tell(settings: Settings) -> None:
    """Three people with a memory and a conversation each, and a key."""
    parts = await open_parts(settings)
    server = Server(app=create_app(parts, ServerOptions(is_in_process=True)), parts=parts)
    for user in (MIRA, OTTO, ODD):
        text = f"{WORD} of {user[:4]}"
        said = {"messages": [{"role": "user", "content": text}], "user_id": user, "infer": False}
        await server.post("/api/memories", said)
        async with parts.chats.conversations.of(Scope(project="default", user=user)) as own:
            own.log.open_session("talk")
            own.log.save_messages([MessageRecord(session_id="talk", role="user", content=text)])
        parts.access.api_keys.create(role="write", user=user, by="test")
    await parts.aclose()


async def digests(settings: Settings) -> dict[str, str]:
    """A digest of everything of each person, by scope."""
    parts = await open_parts(settings)
    facts = present(next(holding.exchange for holding in parts.upkeep.holdings if holding.name == FACT))
    found = {}
    for scope in await parts.upkeep.subjects.everybody.all():
        told = [page async for page in facts.pages(scope)]
        async with parts.chats.conversations.of(scope) as own:
            talk = [own.log.load_messages(session.id) for session in own.log.list_sessions(9)]
        found[scope.user] = hashlib.sha256(repr((told, talk)).encode()).hexdigest()
    await parts.aclose()
    return found


async def erase(settings: Settings, *users: str) -> None:
    parts = await open_parts(settings)
    for user in users:
        await parts.upkeep.subjects.erase(Person(tenant="default", user=user))
    await parts.aclose()


def bytes_below(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())


@pytest.fixture
async def settings(tmp_path) -> Settings:
    made = settings_of(tmp_path / "data")
    await tell(made)
    return made


@pytest.fixture(params=["key", "plain"])
def key(request, tmp_path) -> BackupKey | None:
    if request.param == "plain":
        return None
    file = tmp_path / "key"
    file.write_text("0f" * 32)
    return BackupKey.read(file)


async def test_what_is_restored_has_every_person_as_they_were(settings, key, tmp_path):
    before = await digests(settings)
    await asyncio.to_thread(create_backup, settings, tmp_path / "backup", CHOICE, key)
    assert problems_in(tmp_path / "backup", key)[1] == []
    if key is not None:
        assert WORD.encode() not in bytes_below(tmp_path / "backup")
        assert MIRA not in str(list((tmp_path / "backup").rglob("*")))
        assert not (tmp_path / "data/.backup/plain").exists()
    await asyncio.to_thread(restore_backup, tmp_path / "backup", tmp_path / "new", key, open_parts=open_parts)
    assert await digests(settings_of(tmp_path / "new")) == before
    assert len(before) == 3


async def test_who_was_erased_since_is_not_in_what_is_restored(settings, key, tmp_path):
    await asyncio.to_thread(create_backup, settings, tmp_path / "backup", CHOICE, key)
    others = {OTTO: (await digests(settings))[OTTO]}
    await erase(settings, MIRA, ODD)
    live = settings.storage.data_dir
    await asyncio.to_thread(
        lambda: restore_backup(tmp_path / "backup", tmp_path / "new", key, open_parts=open_parts, live=live)
    )
    assert await digests(settings_of(tmp_path / "new")) == others
    found = bytes_below(tmp_path / "new")
    assert [name for name in (f"{WORD} of {MIRA}", f"{WORD} of odd:", ODD) if name.encode() in found] == []
    assert f"{WORD} of {OTTO}".encode() in found


async def memories_of(settings: Settings) -> list[str]:
    """Whose memories a database has, which is first brought up to date."""
    parts = await open_parts(settings)
    await parts.upkeep.subjects.bring_up_to_date()
    found = [owner.user for owner in await parts.memory.store.owners("default")]
    await parts.aclose()
    return sorted(found)


async def test_a_database_of_before_an_erasure_brings_nobody_back_and_takes_nothing_of_now(settings, tmp_path):
    database = settings.storage.data_dir / "mnemoir.db"
    assert await memories_of(settings) == sorted([MIRA, OTTO, ODD])
    before = database.read_bytes()
    await erase(settings, MIRA)
    await tell_again(settings)
    database.write_bytes(before)
    assert await memories_of(settings) == sorted([OTTO, ODD])
    parts = await open_parts(settings)
    async with parts.chats.conversations.of(Scope(project="default", user=MIRA)) as own:
        assert [session.id for session in own.log.list_sessions(9)] == ["back"]
    await parts.aclose()
    await remember(settings, MIRA)
    assert MIRA in await memories_of(settings)  # nobody is erased twice


@pytest.mark.slow
async def test_a_dump_of_before_an_erasure_brings_back_neither_memories_nor_keys_nor_runs(tmp_path):
    dsn, server = servers.database_of(18, tmp_path), servers.of(18)
    settings = settings_of(tmp_path / "data", **{"storage.backend": "postgres", "storage.postgres.dsn": dsn})
    await tell(settings)
    before = await asyncio.to_thread(server.dump, dsn)
    await erase(settings, MIRA)
    await asyncio.to_thread(server.put_back, dsn, before)
    assert await memories_of(settings) == sorted([OTTO, ODD])
    parts = await open_parts(settings)
    users = {user for _, user in parts.access.api_keys.users()}
    assert (MIRA in users, {OTTO, ODD} <= users) == (False, True)
    await parts.aclose()
    held = await asyncio.to_thread(server.dump, dsn)
    assert (f"{WORD} of {MIRA}" in held, f"{WORD} of {OTTO}" in held) == (False, True)
    servers.release()


async def test_an_erasure_that_was_written_down_and_cut_is_done_by_the_next_start(settings):
    add_tombstone(settings.storage.data_dir, "default", MIRA, None, "2026-01-01T00:00:00.000Z")
    assert await memories_of(settings) == sorted([OTTO, ODD])


async def test_what_the_database_tells_of_erasures_is_written_down_beside_it_again(settings):
    await erase(settings, MIRA)
    folder = settings.storage.data_dir
    told = read_tombstones(folder).texts
    (folder / "erased.jsonl").write_text("")
    await remember(settings, MIRA)
    assert MIRA in await memories_of(settings)
    assert read_tombstones(folder).texts == told


async def remember(settings: Settings, user: str) -> None:
    parts = await open_parts(settings)
    server = Server(app=create_app(parts, ServerOptions(is_in_process=True)), parts=parts)
    said = {"messages": [{"role": "user", "content": "I am back."}], "user_id": user, "infer": False}
    await server.post("/api/memories", said)
    await parts.aclose()


async def tell_again(settings: Settings) -> None:
    """A conversation of somebody who was erased and came back."""
    parts = await open_parts(settings)
    async with parts.chats.conversations.of(Scope(project="default", user=MIRA)) as own:
        own.log.open_session("back")
        own.log.save_messages([MessageRecord(session_id="back", role="user", content="I am back.")])
    await parts.aclose()


@pytest.mark.slow
async def test_a_later_backup_beside_it_or_a_saved_list_tells_who_was_erased(settings, key, tmp_path):
    def kept() -> Path:
        return create_kept_backup(settings, tmp_path / "kept", CHOICE, 5, key)[0]

    first = await asyncio.to_thread(kept)
    await erase(settings, MIRA)
    (tmp_path / "saved").mkdir()
    shutil.copy(settings.storage.data_dir / "erased.jsonl", tmp_path / "saved")
    shutil.copytree(first, tmp_path / "alone")
    later = first
    while later == first:  # backups are named after the second
        later = await asyncio.to_thread(kept)
    shutil.rmtree(settings.storage.data_dir)
    assert MIRA in await restored_users(tmp_path, "without", tmp_path / "alone", key)
    assert MIRA not in await restored_users(tmp_path, "list", tmp_path / "alone", key, lost=tmp_path / "saved")
    assert MIRA not in await restored_users(tmp_path, "beside", first, key)
    assert MIRA not in await restored_users(tmp_path, "later", later, key)


async def restored_users(tmp_path: Path, name: str, backup: Path, key: BackupKey | None, **more: Any) -> set[str]:
    await asyncio.to_thread(lambda: restore_backup(backup, tmp_path / name, key, open_parts=open_parts, **more))
    return set(await digests(settings_of(tmp_path / name)))


async def test_the_sign_in_and_the_usage_of_who_was_erased_since_are_not_restored(settings, tmp_path):
    parts = await open_parts(settings)
    server = Server(app=create_app(parts, ServerOptions(is_in_process=True)), parts=parts)
    await server.post("/v1/chat/completions", {"messages": [{"role": "user", "content": "Hello"}], "user": VERA})
    users = parts.access.users
    grant = Grant(role="write", memory_user=VERA)
    users.join(users.invite(grant, by="test")[1], VERA.title(), password_hash="made up")
    users.invite(grant, by="test")
    await parts.aclose()
    await asyncio.to_thread(create_backup, settings, tmp_path / "backup", CHOICE)
    await erase(settings, VERA)
    live = settings.storage.data_dir
    await asyncio.to_thread(
        lambda: restore_backup(tmp_path / "backup", tmp_path / "new", open_parts=open_parts, live=live)
    )
    held = {place: VERA.encode() in bytes_below(tmp_path / place).lower() for place in ("data", "backup", "new")}
    assert held == {"data": False, "backup": True, "new": False}


@pytest.mark.slow
@pytest.mark.parametrize("where", ["live", "lost"])
async def test_encrypted_data_are_restored_without_who_was_erased_since_and_keep_keys_of_who_came_back(
    tmp_path, where
):
    (tmp_path / "kek").write_text(a_key())
    (tmp_path / "kek").chmod(0o600)
    sealed = {"encryption.mode": "fields", "encryption.key_file": str(tmp_path / "kek")}
    settings = settings_of(tmp_path / "data", **sealed)
    await tell(settings)
    others = await digests(settings)
    await asyncio.to_thread(create_backup, settings, tmp_path / "backup", CHOICE)
    await erase(settings, MIRA)
    await tell(settings)
    now, live, saved = await digests(settings), settings.storage.data_dir, tmp_path / "saved"
    saved.mkdir()
    shutil.copy(live / "erased.jsonl", saved)
    with pytest.raises(StorageUnavailable, match="Put the key store of these data back"):
        await asyncio.to_thread(
            lambda: restore_backup(tmp_path / "backup", tmp_path / "new", open_parts=open_parts, lost=saved)
        )
    given: dict[str, Any] = {where: live, "encryption": settings.encryption}
    await asyncio.to_thread(
        lambda: restore_backup(tmp_path / "backup", tmp_path / "new", open_parts=open_parts, **given)
    )
    assert await digests(settings) == now
    shutil.copytree(live / "secrets", tmp_path / "new/secrets", dirs_exist_ok=True)
    del others[MIRA]
    assert await digests(settings_of(tmp_path / "new", **sealed)) == others


async def test_who_came_back_before_the_backup_is_restored(settings, tmp_path):
    await erase(settings, MIRA)
    await tell(settings)
    await asyncio.to_thread(create_backup, settings, tmp_path / "backup", CHOICE)
    assert MIRA in await restored_users(tmp_path, "new", tmp_path / "backup", None, lost=settings.storage.data_dir)


async def test_an_erasure_tells_which_backups_still_hold_the_person(settings, tmp_path):
    await asyncio.to_thread(create_backup, settings, tmp_path / "backup", CHOICE)
    parts = await open_parts(
        load_settings(None, {"storage.data_dir": str(tmp_path / "data"), "retention.backups_days": 30}, environ={})
    )
    erased = await parts.upkeep.subjects.erase(Person(tenant="default", user=MIRA))
    await parts.aclose()
    (backup,) = erased.backups
    assert (backup.path, present(backup.ends_at) > backup.made_at) == (str(tmp_path / "backup"), True)


@pytest.mark.slow
async def test_a_wrong_key_is_told_from_a_damaged_piece_and_both_are_named(settings, tmp_path):
    for name, text in (("own", "correct horse battery"), ("other", "0f" * 32), ("short", "tea")):
        (tmp_path / name).write_text(text)
    own, other = BackupKey.read(tmp_path / "own"), BackupKey.read(tmp_path / "other")
    with pytest.raises(InvalidRequest, match="has 3 characters"):
        BackupKey.read(tmp_path / "short")
    backup = tmp_path / "backup"
    await asyncio.to_thread(create_backup, settings, backup, CHOICE, own)
    with pytest.raises(InvalidRequest, match="The key is not the one of"):
        problems_in(backup, other)
    with pytest.raises(InvalidRequest, match="is encrypted"):
        problems_in(backup)
    largest = max((backup / DATA_FOLDER).iterdir(), key=lambda file: file.stat().st_size)
    content = bytearray(largest.read_bytes())
    content[100] ^= 1
    largest.write_bytes(content)
    assert problems_in(backup, own)[1] == [f"{largest}: piece 1 is damaged or missing"]
    with pytest.raises(StorageUnavailable, match="piece 1 is damaged"):
        restore_backup(backup, tmp_path / "new", own, open_parts=open_parts)
    assert not (tmp_path / "new").exists()


async def test_encrypted_backups_of_one_folder_share_what_did_not_change(settings, tmp_path):
    (tmp_path / "key").write_text("0f" * 32)
    key = BackupKey.read(tmp_path / "key")
    first = await asyncio.to_thread(lambda: create_kept_backup(settings, tmp_path / "kept", CHOICE, 5, key)[0])
    second = first
    while second == first:
        second = await asyncio.to_thread(lambda: create_kept_backup(settings, tmp_path / "kept", CHOICE, 5, key)[0])
    shared = [file for file in (second / DATA_FOLDER).iterdir() if file.stat().st_nlink > 1]
    files = json.loads((second / "backup.json").read_text())
    assert len(shared) > 3
    assert "files" not in files
    assert problems_in(tmp_path / "kept", key)[1] == []
