"""Encryption at rest, over the whole server: what is on disk, and what callers see with and without the keys."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from mnemoir.app.parts import open_parts
from mnemoir.core.data_directory import STORE_FILE
from mnemoir.core.errors import SettingsError, StorageUnavailable
from mnemoir.core.scope import Scope
from mnemoir.server import ServerOptions, create_app
from mnemoir.settings import load_settings
from mnemoir.storage.sealing.resealing import scopes_after
from mnemoir.upkeep.encryption import Encryption
from tests.contracts.words import ASKED, fact
from tests.scripted_llm import ScriptedLLM
from tests.server.server_kit import JSON, Server, asks, error_of
from tests.storage.sealing_kit import a_key

MIRA = ("default", "default", "mira")
SCOPE = Scope(project="default", user="mira")
WORDS = ("Zanzibarquince", "Tandemzinnober", "Kestrelmarzipan")


@pytest.fixture
def sealed(tmp_path) -> JSON:
    """Settings with encryption, by a key in a file."""
    keys = tmp_path / "kek"
    keys.write_text(a_key())
    keys.chmod(0o600)
    return {"encryption.mode": "fields", "encryption.key_file": str(keys)}


@asynccontextmanager
async def serving(folder: Path, settings: JSON) -> AsyncIterator[Server]:
    given = {"storage.data_dir": str(folder / "data"), "llm.provider": "offline", "memory.search_timeout_s": 60}
    parts = await open_parts(load_settings(None, given | settings, environ={}))
    try:
        await parts.start()
        yield Server(app=create_app(parts, ServerOptions()), parts=parts)
    finally:
        await parts.aclose()


async def add(server: Server, text: str, user: str = "mira", **more: Any) -> Any:
    return await server.post("/api/memories", said(text, user) | more)


def said(text: str, user: str = "mira") -> JSON:
    return {"messages": [{"role": "user", "content": text}], "user_id": user, "infer": False}


async def found(server: Server, query: str, user: str = "mira") -> list[tuple[str, float]]:
    answer = await server.post("/api/memories/search", {"query": query, "user_id": user})
    return [(one["memory"], one["score"]) for one in answer["results"]]


async def texts(server: Server, user: str = "mira") -> list[str]:
    return sorted(one["memory"] for one in (await server.get(f"/api/memories?user_id={user}"))["results"])


def hold(settings: JSON, *keys: str) -> None:
    """Put other keys into the file of the settings."""
    Path(settings["encryption.key_file"]).write_text("\n".join(keys))


async def settled(server: Server) -> None:
    """Until all is as the settings and keys say."""
    encryption = server.parts.upkeep.encryption
    await encryption.bring_up_to_date(
        server.parts.memory.database, server.parts.memory.packs, server.parts.chats.conversations
    )


def holds(folder: Path, *words: str) -> set[str]:
    """Which words any file of the data directory has."""
    kept = b"".join(file.read_bytes() for file in (folder / "data").rglob("*") if file.is_file())
    return {word for word in words if word.encode() in kept}


@pytest.mark.slow
async def test_no_word_is_in_any_byte_and_all_is_found_as_without_encryption(tmp_path, sealed):
    ranks = []
    for folder, settings in ((tmp_path / "sealed", sealed), (tmp_path / "plain", {})):
        async with ScriptedLLM() as llm, serving(folder, settings | asks(llm)) as server:
            for number, word in enumerate(WORDS):
                await add(server, f"Likes {word} on day {number}", metadata={"seen": f"{word} again"})
            (first, *_) = (await server.get("/api/memories?user_id=mira"))["results"]
            await server.ask("PATCH", f"/api/memories/{first['id']}", {"memory": f"Never liked {WORDS[0]}"})
            chat = {
                "model": "mnemoir",
                "messages": [{"role": "user", "content": f"I met {WORDS[1]}"}],
                "user": "mira",
            }
            await server.post("/v1/chat/completions", chat, x_conversation_id="c1")
            history = await server.get(f"/api/memories/{first['id']}/history")
            ranks.append([await found(server, f"who likes {word}") for word in WORDS] + [len(history)])
            runs = (await server.get("/api/runs?q=met"))["results"]
            assert [run["question"] for run in runs] == [f"I met {WORDS[1]}"]
            during = holds(folder, *WORDS)  # the write-ahead log is there, too
        assert during | holds(folder, *WORDS) == (set() if settings else set(WORDS))
    assert ranks[0] == ranks[1]


async def test_what_was_plain_is_encrypted_behind_the_requests_and_plain_again_when_it_is_off(tmp_path, sealed):
    async with serving(tmp_path, {}) as server:
        for word in WORDS:
            await add(server, f"Likes {word}")
        await server.parts.memory.store.commit(SCOPE, [fact("Likes tea", scope=SCOPE)], ASKED)
        plain = [(await found(server, f"likes {WORDS[0]}"))[0][0], await texts(server)]
    assert holds(tmp_path, *WORDS) == set(WORDS)
    async with serving(tmp_path, sealed) as server:
        await settled(server)
        assert await server.parts.memory.store.commit(SCOPE, [fact("likes  tea.", scope=SCOPE)], ASKED) == []
        assert [(await found(server, f"likes {WORDS[0]}"))[0][0], await texts(server)] == plain
    assert holds(tmp_path, *WORDS) == set()
    async with serving(tmp_path, sealed | {"encryption.mode": "off"}) as server:
        assert [(await found(server, f"likes {WORDS[0]}"))[0][0], await texts(server)] == plain
        await settled(server)
    (tmp_path / "data" / STORE_FILE).unlink()
    async with serving(tmp_path, {}) as server:
        assert [(await found(server, f"likes {WORDS[0]}"))[0][0], await texts(server)] == plain
        assert await server.parts.memory.store.commit(SCOPE, [fact("Likes tea", scope=SCOPE)], ASKED) == []


async def test_a_rotated_key_encrypts_all_anew_and_both_are_read_meanwhile(tmp_path, sealed):
    async with serving(tmp_path, sealed) as server:
        await add(server, "Likes tea")
        ring = server.parts.upkeep.encryption.ring
        assert ring is not None
        before, after = ring.current(MIRA), ring.rotate(MIRA)
        await add(server, "Likes rum")
        assert await texts(server) == ["Likes rum", "Likes tea"]
        await settled(server)
        assert await texts(server) == ["Likes rum", "Likes tea"]
        stored = await server.parts.memory.database.read(
            None, lambda sql: sql.rows("SELECT quote(text) FROM memories")
        )
    assert [text.count(f"{after:08x}") for (text,) in stored] == [1, 1]
    assert before != after


async def test_without_its_key_a_user_is_told_so_and_nothing_is_lost(tmp_path, sealed):
    async with serving(tmp_path, sealed) as server:
        await add(server, "Likes tea")
    hold(sealed, a_key(2))
    async with serving(tmp_path, sealed) as server:
        for method, target, body in (
            ("GET", "/api/memories?user_id=mira", None),
            ("POST", "/api/memories/search", {"query": "tea", "user_id": "mira"}),
            ("POST", "/api/memories", said("Likes rum")),
        ):
            assert error_of(await server.ask(method, target, body)) == (503, "key_unavailable")
        assert error_of(await server.ask("GET", "/ready")) == (503, "key_unavailable")
        assert "encryption.provider does not have" in (await server.get("/api/status"))["storage_problem"]
        chat = {"messages": [{"role": "user", "content": "Hello"}], "user": "mira", "conversation_id": "talk"}
        answer = await server.ask("POST", "/v1/chat/completions", chat)
        assert (answer.status, answer.headers["x-mnemoir-degraded"]) == (200, "storage")
    hold(sealed, a_key(2), a_key())
    async with serving(tmp_path, sealed) as server:
        assert await texts(server) == ["Likes tea"]
        ring = server.parts.upkeep.encryption.ring
        assert ring is not None
        assert ring.rewrap() == 1
    hold(sealed, a_key(2))
    async with serving(tmp_path, sealed) as server:
        assert await texts(server) == ["Likes tea"]


async def test_a_destroyed_key_takes_all_of_its_user_along_and_nothing_of_others(tmp_path, sealed):
    async with serving(tmp_path, sealed) as server:
        await add(server, "Likes tea")
        await add(server, "Likes rum", "omar")
        ring = server.parts.upkeep.encryption.ring
        assert ring is not None
        assert ring.destroy(MIRA) == 1
        assert error_of(await server.ask("GET", "/api/memories?user_id=mira")) == (503, "key_unavailable")
        assert await texts(server, "omar") == ["Likes rum"]
        await settled(server)  # and so all that no key opens is deleted
        rows = await server.parts.memory.database.read(None, lambda sql: sql.rows("SELECT count(*) FROM memories"))
        assert (rows, await texts(server)) == ([(1,)], [])
        await add(server, "Likes gin")
        assert await texts(server) == ["Likes gin"]


async def test_a_server_does_not_start_without_its_keys_or_with_plain_places_untold(tmp_path, sealed):
    async with serving(tmp_path, sealed) as server:
        await add(server, "Likes tea")
    store, aside = tmp_path / "data" / STORE_FILE, tmp_path / "aside"
    os.rename(store, aside)
    for settings, error, told in (
        (sealed, StorageUnavailable, "data-keys.db is gone"),
        ({}, StorageUnavailable, "data-keys.db is gone"),
        (sealed | {"storage.backend": "file"}, SettingsError, "would stay plain: etienne"),
        (sealed | {"encryption.key_file": str(tmp_path / "none")}, SettingsError, "cannot be read"),
        (sealed | {"encryption.provider": "vault"}, SettingsError, "no installed package lists it"),
        (sealed | {"encryption.provider": "command"}, SettingsError, "key_command is empty"),
        (sealed | {"encryption.provider": "env"}, SettingsError, "The variable ENCRYPTION_KEY holds no key"),
    ):
        with pytest.raises(error, match=told):
            async with serving(tmp_path, settings):
                pass
    os.rename(aside, store)  # no other one took its place
    async with serving(tmp_path, sealed) as server:
        assert await texts(server) == ["Likes tea"]


async def test_a_running_server_acts_on_keys_that_the_command_line_rotates(tmp_path, sealed, monkeypatch):
    monkeypatch.setattr("mnemoir.upkeep.encryption._LOOK_S", 0.01)
    async with serving(tmp_path, sealed) as server:
        await add(server, "Likes tea")
        beside = Encryption(server.parts.settings)
        assert beside.ring is not None
        newest = await asyncio.to_thread(beside.ring.rotate, MIRA)
        async with asyncio.timeout(60):
            while (
                await server.parts.memory.database.read(None, lambda sql: scopes_after(sql, 0)[0].sealed_by) != newest
            ):
                pass
        assert await texts(server) == ["Likes tea"]
        await asyncio.to_thread(beside.close)
