"""Search in sessions for tests: clients that fail as they are told, and a manager over real files."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, cast

from mnemoir.conversations.memory_manager import MemoryManager
from mnemoir.conversations.search.embedding import EmbeddingClient, ModelEmbeddingClient
from mnemoir.conversations.search.vectors import VectorStore
from mnemoir.core.conversations import Message
from mnemoir.storage.conversations.vector_file import VectorFileStore
from tests.search.hashed_words import HashedWords


class OpenVectorStore(VectorStore, Protocol):
    """A vector store that a test opens and closes itself."""

    def close(self) -> None: ...

    def stored_model(self) -> str | None: ...

    def note_model(self, name: str) -> None: ...


class WordsClient:
    """A client of vectors alone: each word is a direction. A text with a word in `poison` fails the whole call."""

    model_name = "words"
    dimension = 1024

    def __init__(self, poison: Sequence[str] = (), error: type[Exception] = ValueError) -> None:
        self.poison = list(poison)
        self.error = error
        self.is_down = False
        self.calls: list[list[str]] = []
        self._model = HashedWords(tokens=False)

    async def embed(self, texts: list[str]) -> list[list[float]]:
        self.calls.append(texts)
        if self.is_down:
            raise ConnectionRefusedError("nobody listens there")
        if any(word in text for text in texts for word in self.poison):
            raise self.error("this text cannot be embedded")
        client = ModelEmbeddingClient(self._model)
        return await client.embed(texts)

    async def embed_single(self, text: str) -> list[float]:
        return (await self.embed([text]))[0]


@contextmanager
def manager(
    folder: Path, client: EmbeddingClient, store: OpenVectorStore | None = None, **options
) -> Iterator[MemoryManager]:
    """A manager over files in `folder`; without a store, over the built-in one there."""
    vectors = store or VectorFileStore("messages", folder)
    with MemoryManager(folder / "memory.db", embedding_client=client, vector_store=vectors, **options) as opened:
        yield opened
    vectors.close()


def say(manager: MemoryManager, *texts: str, session: str = "s") -> list[int]:
    return [manager.save_message(session, Message("user", text)) for text in texts]


def store_of(manager: MemoryManager) -> VectorStore:
    """The manager's vector store, which the test gave it, with all methods of one."""
    return cast(VectorStore, manager.vector_store)


def client_of(manager: MemoryManager) -> EmbeddingClient:
    """The manager's embedding client, which the test gave it, with coroutines."""
    return cast(EmbeddingClient, manager.embedding_client)


def vector_ids(manager: MemoryManager) -> list[str]:
    return sorted(store_of(manager).get()[0])
