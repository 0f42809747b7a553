"""Files of many users: open while they are used, closed whole when they are not, and gone when they are to go."""

import asyncio
import os

import pytest

from mnemoir.core.conversations import Message
from mnemoir.core.scope import Scope
from tests.chats.chat_kit import Chats, opened_chats, texts_of
from tests.scripted_llm import ScriptedLLM
from tests.server.server_kit import succeeded


async def say(chats: Chats, user: str) -> None:
    async with chats.parts.chats.conversations.of(Scope(project=chats.project, user=user)) as own:
        await asyncio.to_thread(own.manager.save_message, "tea", Message("user", f"of {user}"))
        await own.manager.wait_for_pending_embeddings()


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.slow
@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="this system does not tell which files are open")
async def test_a_user_s_files_are_all_closed_when_too_many_others_come(tmp_path):
    async with ScriptedLLM() as llm, opened_chats(tmp_path, llm) as chats:
        before = open_files()
        for number in range(36):
            await say(chats, f"a{number}")
        each = (open_files() - before) / 36
        for number in range(36):
            await say(chats, f"b{number}")
        async with asyncio.timeout(60):
            while open_files() > before + 33 * (each + 1):  # noqa: ASYNC110  # they are closed behind their users
                await asyncio.sleep(0.005)


async def test_a_user_of_chromadb_who_was_forgotten_can_begin_anew(tmp_path):
    pytest.importorskip("chromadb")
    vectors = tmp_path / "vectors"
    chosen = {"memory.vector_store.backend": "chromadb", "memory.vector_store.persist_directory": str(vectors)}
    async with ScriptedLLM() as llm, opened_chats(tmp_path, llm, **chosen) as chats:
        for words in ("A green pot", "A red pot"):
            await chats.chat(words)
            await chats.post("/api/conversations/tea/flush", None)
            found = await chats.get("/api/conversations/search?q=pot&mode=semantic&role=user")
            assert [hit["message"]["content"] for hit in found["results"]] == [words]
            assert succeeded(await chats.ask("DELETE", "/api/conversations?user_id=user"))["messages"] == 2
            assert not [path for path in vectors.rglob("*") if path.is_file()]
        assert texts_of(await chats.lines()) == []


async def test_messages_of_an_encoded_name_count_without_any_memory(tmp_path):
    async with ScriptedLLM() as llm, opened_chats(tmp_path, llm) as chats:
        await say(chats, "Ünal Ö/x")
        amount = chats.parts.chats.quotas.stored.amount
        assert await amount("messages", "default", "Ünal Ö/x", fresh=True) == 1
        assert await amount("messages", "default", None, fresh=True) == 1
