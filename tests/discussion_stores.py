"""The real stores of discussions, as tests of several rooms use them."""

from mnemoir.memory.discussions.parts import DiscussionMemory
from mnemoir.ports.embedding import EmbeddingModel
from mnemoir.providers.embedding.minilm_model import MiniLM
from mnemoir.search.indexing import Indexing
from mnemoir.storage.discussions.chunk_ledger import FileChunkLedger
from mnemoir.storage.discussions.files import FileDiscussionFiles
from mnemoir.storage.discussions.record_store import SqliteRecordStore
from mnemoir.storage.discussions.rolling_summaries import FileRollingSummaries


def discussion_stores(embedding: EmbeddingModel | None = None) -> DiscussionMemory:
    """New ones, as after a restart; `close_stores` ends them."""
    model = embedding or MiniLM()
    return DiscussionMemory(
        ledger=FileChunkLedger(),
        summaries=FileRollingSummaries(),
        records=SqliteRecordStore(),
        files=FileDiscussionFiles(),
        indexing=Indexing(model),
        embedding=model,
    )


async def close_stores(memory: DiscussionMemory) -> None:
    """Close the databases and end the thread of the embedding model."""
    await memory.records.aclose()
    await memory.embedding.aclose()
