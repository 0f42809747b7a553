"""Recall of the conversation search compared with the memory search, with the questions of LoCoMo.

Every turn is saved as a message with its speaker and time. Both use the same embedding model, each passage once, so
equal figures mean equal ranking.
"""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from pathlib import Path

from bench import recall
from bench.report import table
from mnemoir.conversations.memory_manager import MemoryManager
from mnemoir.conversations.search.embedding import ModelEmbeddingClient
from mnemoir.conversations.search.search_filter import SearchFilter
from mnemoir.conversations.search.semantic import SemanticSearch
from mnemoir.conversations.search.session_search import SearchHit
from mnemoir.core.conversations import MessageRecord
from mnemoir.providers.embedding.minilm_model import MiniLM
from mnemoir.search import Indexing, Recall
from mnemoir.storage.conversations.sqlite_sessions import MemoryStorage
from mnemoir.storage.conversations.vector_file import VectorFileStore
from mnemoir.storage.sql import SqlMemoryStore
from mnemoir.storage.sqlite import open_database
from tests.narrowing import instance

_ANY = SearchFilter()
Ask = Callable[[SemanticSearch, str], Awaitable[list[SearchHit]]]


def _hybrid(search: SemanticSearch, text: str) -> Awaitable[list[SearchHit]]:
    return search.search_hybrid(text, recall.DEPTH, filters=_ANY)


def _meaning(search: SemanticSearch, text: str) -> Awaitable[list[SearchHit]]:
    return search.search(text, recall.DEPTH, filters=_ANY)


_WAYS: dict[str, Ask] = {"conversations, search_hybrid": _hybrid, "conversations, search_similar": _meaning}


def compare_recall() -> None:
    """Print the table, or a line when the data set is missing."""
    if not recall.DATA.exists():
        print(f"\nRecall quality: skipped, there is no {recall.DATA.name} beside this checkout.")
        return
    asyncio.run(_compare(recall.read(recall.DATA)))


async def _compare(conversations: Sequence[recall.Conversation]) -> None:
    model = recall.CachedEmbedding(MiniLM())
    rows = [("memories", *await _of_memories(conversations, model))]
    places: dict[str, list[tuple[float, float, float]]] = {way: [] for way in _WAYS}
    for conversation in conversations:
        with tempfile.TemporaryDirectory() as folder:
            for way, figures in (await _of_messages(Path(folder), conversation, model)).items():
                places[way] += figures
    rows += [(way, *_means(figures)) for way, figures in places.items()]
    await model.aclose()
    header = ("", f"recall@{recall.DEPTH}", f"hit@{recall.DEPTH}", f"nDCG@{recall.DEPTH}")
    table(f"recall quality (percent): {len(places[way])} questions", header, rows)


async def _of_memories(
    conversations: Sequence[recall.Conversation], model: recall.CachedEmbedding
) -> tuple[str, str, str]:
    with tempfile.TemporaryDirectory() as folder:
        store = SqlMemoryStore(open_database(Path(folder) / "recall.db"))
        try:
            for conversation in conversations:
                await recall.store_turns(store, Indexing(model), conversation)
            found = await recall.measured(Recall(store, model), conversations)
        finally:
            await store.aclose()
    return f"{found.recall:.1f}", f"{found.hit:.1f}", f"{found.ndcg:.1f}"


async def _of_messages(
    folder: Path, conversation: recall.Conversation, model: recall.CachedEmbedding
) -> dict[str, list[tuple[float, float, float]]]:
    client = ModelEmbeddingClient(model)
    with (
        closing(VectorFileStore("messages", folder)) as vectors,
        MemoryManager(folder / "conversations.db", embedding_client=client, vector_store=vectors) as memory,
    ):
        names = dict(zip(memory.storage.save_messages(_records(conversation)), conversation.turns, strict=True))
        await memory.abackfill_embeddings()
        search = SemanticSearch(
            instance(MemoryStorage, memory.storage), client, vectors, clock=lambda: recall.ASKED_AT
        )
        figures: dict[str, list[tuple[float, float, float]]] = {way: [] for way in _WAYS}
        for asked in conversation.asked:
            for way, ask in _WAYS.items():
                hits = await ask(search, asked.text)
                figures[way].append(
                    recall.ranking_figures([names[hit.message_id].id for hit in hits], asked.evidence)
                )
        search.close()
    return figures


def _records(conversation: recall.Conversation) -> list[MessageRecord]:
    return [
        MessageRecord(
            session_id=conversation.name,
            role="user",
            content=turn.text,
            name=turn.speaker,
            created_at=turn.said_at,
        )
        for turn in conversation.turns
    ]


def _means(figures: Sequence[tuple[float, float, float]]) -> tuple[str, str, str]:
    recalls, hits, gains = (100 * sum(column) / len(figures) for column in zip(*figures, strict=True))
    return f"{recalls:.1f}", f"{hits:.1f}", f"{gains:.1f}"
