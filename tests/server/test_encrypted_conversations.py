"""Encryption of conversations, over the whole server: what is on disk, and what callers see with and without keys."""

import shutil
from base64 import b64encode
from pathlib import Path
from typing import Any

import orjson
import pytest

from mnemoir.app.parts import open_parts
from mnemoir.chats.conversation_folders import owner_of, owners_of
from mnemoir.conversations.nodes.keys import node_key
from mnemoir.core.conversations import Summary
from mnemoir.core.data_directory import STORE_FILE
from mnemoir.core.errors import KeyUnavailable, StorageUnavailable
from mnemoir.core.scope import Scope
from mnemoir.settings import load_settings
from mnemoir.storage.conversations.inspection import inspect_conversations
from mnemoir.storage.conversations.sqlite_sessions import MemoryStorage
from mnemoir.storage.sql import SqlPersonalValues
from mnemoir.storage.tombstones import read_tombstones
from mnemoir.storage.user_pool import in_own_loop
from mnemoir.upkeep.subjects import Person
from tests.scripted_llm import ScriptedLLM
from tests.server.server_kit import JSON, Server, asks, error_of
from tests.server.test_encryption import MIRA, SCOPE, add, hold, holds, sealed, serving, settled
from tests.storage.sealing_kit import a_key
from tests.workflows.nodes.pictures import png

__all__ = ["sealed"]
WORDS = ("Zanzibarquince", "Tandemzinnober", "Kestrelmarzipan", "Quillwortlantern", "Bramblesextant", "Cobaltparsnip")
SAID, TITLE, PROMPT, NODE, SUMMED, FILED = WORDS
PICTURE = png(filler=FILED.encode())
MAIL = "zanzibar.quince@example.org"
CHAT = "/v1/chat/completions"
NODE_KEY = node_key("app", "c1", "tea/Answer")
RECORD = {"message_id": "r", "parent_message_id": None, "role": "user", "created_at": "2026-11-22T10:00:00Z"}
REMEMBERED = orjson.dumps({"version": 1, "messages": [RECORD | {"content": NODE}]})


async def talk(server: Server, text: str, id: str = "c1", user: str = "mira", **more: Any) -> Any:
    url = f"data:image/png;base64,{b64encode(PICTURE).decode()}"
    content = [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": url}}]
    body = {"model": "mnemoir", "messages": [{"role": "user", "content": content}], "user": user} | more
    return await server.post(CHAT, body, x_conversation_id=id)


async def fill(server: Server) -> None:
    """A kept chat with a file, a title, a summary and the memory of a node, all with their vectors."""
    await talk(server, f"I met {SAID}")
    await server.ask("PATCH", "/api/conversations/c1?user_id=mira", {"title": f"On {TITLE}", "system_prompt": PROMPT})
    async with server.parts.chats.conversations.of(SCOPE) as own:
        own.node_parts.objects.save(NODE_KEY, REMEMBERED)
        log = own.log
        log.update_session("c1", system_prompt=PROMPT)
        claim = log.claim_summary("c1", 60) or ""
        summary = Summary(upto_message_id=1, text=SUMMED, token_count=3, model="m", created_at=None)
        assert log.put_summary("c1", claim, summary)
        assert await in_own_loop(own.manager.fill_vectors()) is False


async def told(server: Server) -> JSON:
    """All that is told of the conversation."""
    messages = (await server.get("/api/conversations/c1/messages?user_id=mira"))["results"]
    name = next(part["image_url"]["url"].rpartition("/")[2] for part in messages[0]["content"] if "image_url" in part)
    picture = (await server.ask("GET", f"/api/conversations/c1/attachments/{name}?user_id=mira")).body
    found = await server.get(f"/api/conversations/search?q={SAID}&user_id=mira")
    async with server.parts.chats.conversations.of(SCOPE) as own:
        summary = own.log.get_summary("c1")
        session = own.log.get_session("c1")
        return {
            "messages": [(one["role"], one["content"][:1]) for one in messages],
            "picture": picture,
            "ranks": [(one["message"]["role"], one["score"]) for one in found["results"]],
            "list": [one["title"] for one in (await server.get("/api/conversations?user_id=mira"))["results"]],
            "summary": summary and summary.text,
            "prompt": session and session.system_prompt,
            "node": own.node_parts.objects.load_once(NODE_KEY),
            "sizes": [entry.size_bytes for entry in own.node_parts.objects.scan("")],
            "stretches": own.log.thread_stretches("c1", [], [], 0.5),
        }


def bytes_of(folder: Path, part: str = "") -> bytes:
    return b"".join(file.read_bytes() for file in (folder / "data" / part).rglob("*") if file.is_file())


def databases(folder: Path) -> list[Path]:
    return sorted((folder / "data" / "conversations").rglob("*.db*"))


@pytest.mark.slow
async def test_no_word_of_a_chat_is_in_any_byte_and_all_is_read_as_without_encryption(tmp_path, sealed):
    seen = []
    for folder, settings in ((tmp_path / "sealed", sealed), (tmp_path / "plain", {})):
        async with ScriptedLLM() as llm, serving(folder, settings | asks(llm)) as server:
            await fill(server)
            seen.append(await told(server))
            during = holds(folder, *WORDS)  # the write-ahead logs are there, too
        async with ScriptedLLM() as llm, serving(folder, settings | asks(llm)) as server:
            assert await told(server) == seen[-1]  # of the packs of the index
        assert during | holds(folder, *WORDS) == (set() if settings else set(WORDS))
        assert inspect_conversations(folder / "data" / "conversations" / "default" / "mira") == []
    assert seen[0] == seen[1]


@pytest.mark.slow
async def test_chats_are_encrypted_behind_the_requests_rotated_and_plain_again_when_it_is_off(tmp_path, sealed):
    async with ScriptedLLM() as llm, serving(tmp_path, asks(llm)) as server:
        await fill(server)
        before = await told(server)
    async with ScriptedLLM() as llm, serving(tmp_path, sealed | asks(llm)) as server:
        await settled(server)
        assert await told(server) == before
        ring = server.parts.upkeep.encryption.ring
        assert ring is not None
        former, newest = ring.current(MIRA), ring.rotate(MIRA)
        assert await told(server) == before
        await settled(server)
        assert await told(server) == before
        assert server.parts.upkeep.encryption.share_of_conversations() == (1, 1)
    assert holds(tmp_path, *WORDS) == set()
    kept = bytes_of(tmp_path, "conversations")
    marks = [b"\x01E1:" + key.to_bytes(4) for key in (former, newest)]
    assert [kept.count(mark) > 0 for mark in marks] == [False, True]
    async with ScriptedLLM() as llm, serving(tmp_path, sealed | asks(llm) | {"encryption.mode": "off"}) as server:
        assert await told(server) == before
        await settled(server)
        assert server.parts.upkeep.encryption.share_of_conversations() == (1, 0)
    (tmp_path / "data" / STORE_FILE).unlink()
    async with ScriptedLLM() as llm, serving(tmp_path, asks(llm)) as server:
        assert await told(server) == before


async def test_a_history_that_is_sent_again_is_known_by_keyed_digests_of_any_key(tmp_path, sealed):
    history = [{"role": "user", "content": "Tea?"}]

    async def go_on(server: Server, text: str) -> str:
        body = {"model": "mnemoir", "messages": history, "user": "mira"}
        answer = await server.ask("POST", CHAT, body)
        history.append(
            {"role": "assistant", "content": orjson.loads(answer.body)["choices"][0]["message"]["content"]}
        )
        history.append({"role": "user", "content": text})
        return answer.headers["x-conversation-id"]

    always = {"memory.enabled": True}
    async with ScriptedLLM() as llm, serving(tmp_path, asks(llm) | always) as server:
        first = await go_on(server, "With milk?")
        assert await go_on(server, "Or lemon?") == first
    async with ScriptedLLM() as llm, serving(tmp_path, sealed | asks(llm) | always) as server:
        assert await go_on(server, "Sugar?") == first
        await settled(server)
        assert await go_on(server, "Honey?") == first
        ring = server.parts.upkeep.encryption.ring
        assert ring is not None
        ring.rotate(MIRA)
        assert await go_on(server, "Biscuits?") == first
        await settled(server)
        assert await go_on(server, "Bye") == first
        messages = (await server.get(f"/api/conversations/{first}/messages?user_id=mira&limit=50"))["results"]
        assert len(messages) == 12


async def test_without_its_key_a_chat_is_refused_and_nothing_is_lost_or_made_anew(tmp_path, sealed):
    async with ScriptedLLM() as llm, serving(tmp_path, sealed | asks(llm)) as server:
        await fill(server)
        before = await told(server)
    files = databases(tmp_path)
    hold(sealed, a_key(2))
    async with ScriptedLLM() as llm, serving(tmp_path, sealed | asks(llm)) as server:
        for method, target, body in (
            ("GET", "/api/conversations?user_id=mira", None),
            ("GET", "/api/conversations/c1/messages?user_id=mira", None),
            ("GET", f"/api/conversations/search?q={SAID}&user_id=mira", None),
            ("GET", "/api/conversations/c1/export?user_id=mira", None),
            ("POST", "/api/conversations/c1/messages?user_id=mira", {"messages": [{"role": "user", "content": "x"}]}),
            ("POST", "/api/conversations?user_id=omar", {"id": "c9"}),
        ):
            assert error_of(await server.ask(method, target, body)) == (503, "key_unavailable"), target
        await settled(server)
    assert databases(tmp_path) == files
    hold(sealed, a_key())
    async with ScriptedLLM() as llm, serving(tmp_path, sealed | asks(llm)) as server:
        assert await told(server) == before


async def test_a_destroyed_key_takes_the_folder_along_and_nothing_of_others(tmp_path, sealed):
    async with ScriptedLLM() as llm, serving(tmp_path, sealed | asks(llm)) as server:
        await fill(server)
        await talk(server, "Tea", user="omar")
        ring = server.parts.upkeep.encryption.ring
        assert ring is not None
        assert ring.destroy(MIRA) == 1
        refused = await server.ask("GET", "/api/conversations/c1/messages?user_id=mira")
        assert error_of(refused) == (503, "key_unavailable")
        await settled(server)
        assert not (tmp_path / "data" / "conversations" / "default" / "mira").exists()
        assert (await server.get("/api/conversations?user_id=mira"))["results"] == []
        assert len((await server.get("/api/conversations?user_id=omar"))["results"]) == 1
        await talk(server, "Gin")
        assert len((await server.get("/api/conversations?user_id=mira"))["results"]) == 1


async def test_an_erased_person_takes_their_keys_along(tmp_path, sealed):
    async with ScriptedLLM() as llm, serving(tmp_path, sealed | asks(llm)) as server:
        await talk(server, "Tea")
        await talk(server, "Rum", user="omar")
        ring = server.parts.upkeep.encryption.ring
        assert ring is not None
        key, of_omar = ring.current(MIRA), ring.current(("default", "default", "omar"))
        await server.parts.upkeep.subjects.erase(Person(tenant="default", user="mira"))
        assert (ring.is_destroyed(key), ring.is_destroyed(of_omar)) == (True, False)
        assert (b"mira" in bytes_of(tmp_path), b"omar" in bytes_of(tmp_path, "secrets")) == (False, True)
        await talk(server, "Gin")
        assert len((await server.get("/api/conversations/c1/messages?user_id=mira"))["results"]) == 2


async def test_who_was_erased_is_erased_again_in_data_of_before_that_no_key_opens(tmp_path, sealed):
    data, aside = tmp_path / "data", tmp_path / "aside"
    async with ScriptedLLM() as llm, serving(tmp_path, sealed | asks(llm)) as server:
        await add(server, f"Likes {SAID}")
        await talk(server, "Tea")
    shutil.copytree(data, aside, ignore=shutil.ignore_patterns("secrets"))
    async with ScriptedLLM() as llm, serving(tmp_path, sealed | asks(llm)) as server:
        await server.parts.upkeep.subjects.erase(Person(tenant="default", user="mira"))
        tombstones = read_tombstones(data)
    shutil.move(data / "secrets", aside / "secrets")
    shutil.rmtree(data)
    shutil.move(aside, data)
    given = {"storage.data_dir": str(data), "llm.provider": "offline"}
    parts = await open_parts(load_settings(None, given | sealed, environ={}))  # not started: no upkeep
    assert await parts.upkeep.subjects.erase_again(tombstones, "") == 1
    rows = await parts.memory.database.read(None, lambda sql: sql.value("SELECT count(*) FROM memories"))
    await parts.aclose()
    assert (rows, (data / "conversations" / "default" / "mira").exists()) == (0, False)


async def test_no_program_takes_encrypted_messages_for_texts_and_a_lost_key_store_is_told(tmp_path, sealed):
    async with ScriptedLLM() as llm, serving(tmp_path, sealed | asks(llm)) as server:
        await talk(server, "Tea", memoryEnabled=False)
    file = tmp_path / "data" / "conversations" / "default" / "mira" / "conversations.db"
    with pytest.raises(KeyUnavailable, match="is encrypted"):
        MemoryStorage(file)
    (tmp_path / "data" / STORE_FILE).unlink()
    with pytest.raises(StorageUnavailable, match=r"data-keys\.db is gone"):
        async with serving(tmp_path, sealed):
            pass
    assert [path.name for path in file.parent.glob("*corrupt*")] == []


async def test_the_values_of_placeholders_are_encrypted_and_turned_back(tmp_path, sealed):
    pii = {"pii.policy.messages": "redact", "pii.reversible": True, "memory.enabled": True}
    for settings in (pii, pii | sealed):
        async with ScriptedLLM() as llm, serving(tmp_path, settings | asks(llm)) as server:
            if settings is not pii:
                await settled(server)
            await talk(server, f"Write to {MAIL}", id=f"c{len(settings)}")
            values = SqlPersonalValues(server.parts.memory.database, lambda: b"", reversible=True)
            originals = await values.originals(SCOPE)
            assert [*originals.values()] == [MAIL]
            if settings is not pii:
                await server.ask("DELETE", "/api/memories?user_id=mira")  # they stay for the messages, in a new scope
                assert await values.originals(SCOPE) == originals
        assert holds(tmp_path, MAIL) == ({MAIL} if settings is pii else set())


def test_a_folder_tells_whose_key_it_has(tmp_path):
    folder = tmp_path / "default" / "mira"
    folder.mkdir(parents=True)
    assert owner_of(folder) == MIRA
    assert owners_of(tmp_path, Scope(project="default", user="mira")) == [MIRA]
    assert owner_of(tmp_path / "acme=shop" / "mira") == ("acme", "shop", "mira")
    memories, talks = owners_of(tmp_path, Scope(tenant="acme", project="default", user="Mira/x"))
    assert memories == ("acme", "default", "Mira/x")
    assert talks[:2] == ("acme", "default")
    assert talks[2].startswith("%")


async def test_what_was_recalled_for_a_question_is_encrypted_and_stands_with_it_before_and_after(tmp_path, sealed):
    asked: list[JSON] = [{"role": "user", "content": "Who likes zanzibarquince?"}]
    sent: list[list[JSON]] = []
    plain: JSON = {}
    for settings in (plain, sealed):
        async with ScriptedLLM() as llm, serving(tmp_path, {"memory.enabled": True} | settings | asks(llm)) as server:
            llm.rule(lambda one: "memory_facts" in one.prompt, '{"facts": []}')
            if settings:
                await settled(server)
                assert holds(tmp_path, '[["memory"') == set()
            else:
                await add(server, f"Likes {SAID}")
            on = {"model": "any", "messages": asked, "user": "mira", "memoryEnabled": True}
            await server.post(CHAT, on, x_session_id="tea")
            sent.append(next(one.body["messages"] for one in llm.requests if f"Likes {SAID}" in one.prompt))
            assert holds(tmp_path, '[["memory"') == (set() if settings else {'[["memory"'})
        said = [{"role": "assistant", "content": "Understood."}, {"role": "user", "content": "And now?"}]
        asked += said
    assert sent[1][: len(sent[0])] == sent[0]
