"""A manager over the log of a user: windows, and searches that meet the user's own messages alone."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from mnemoir.conversations.memory_manager import MemoryManager
from mnemoir.core.conversations import Message
from mnemoir.core.scope import Scope
from mnemoir.storage.conversations.vector_file import VectorFileStore
from tests.contracts.logs import OpenedLogs
from tests.contracts.words import MIRA
from tests.conversations.search_kit import WordsClient

OMAR = replace(MIRA, user="omar")
Manage = Callable[[Scope], MemoryManager]


@pytest.fixture
def manage(logs: OpenedLogs, tmp_path: Path) -> Iterator[Manage]:
    with ExitStack() as stack:

        def opened(scope: Scope) -> MemoryManager:
            vectors = VectorFileStore("messages", tmp_path / scope.user)
            stack.callback(vectors.close)
            return stack.enter_context(MemoryManager(logs.of(scope), 1000, WordsClient(), vectors))

        yield opened


async def found(memory: MemoryManager, words: str) -> list[str]:
    await memory.wait_for_pending_embeddings()
    return [hit.message.text for hit in await memory.search_hybrid(words, 5)]


async def test_each_user_finds_their_own_messages_as_they_come_and_go(manage):
    mine, others = manage(MIRA), manage(OMAR)
    mine.save_messages("s", [Message("user", "the cat sat")])
    others.save_messages("s", [Message("user", "a cat ran")])
    assert (await found(mine, "cat"), await found(others, "cat")) == (["the cat sat"], ["a cat ran"])
    mine.save_message("t", Message("user", "cat again"))
    others.delete_session("s")
    assert {*await found(mine, "cat")} == {"the cat sat", "cat again"}
    assert await found(others, "cat") == []
    mine.delete_session("s")
    mine.save_message("t", Message("assistant", "a dog barked"))
    assert (await found(mine, "cat"))[0] == "cat again"
    assert [message.text for message in mine.load_history("t")] == ["cat again", "a dog barked"]
