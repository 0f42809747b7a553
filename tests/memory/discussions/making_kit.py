"""Both stores of what is made of chunks, behind one face, and workers that need no model."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mnemoir.core.discussions import BlockKey, ChunkSource, Discussion, NewRecord
from mnemoir.core.messages import Message, text_message
from mnemoir.memory.discussions.making import Chunk, make, plan
from mnemoir.memory.discussions.parts import ChunkPolicy, Control, Made, Plan
from mnemoir.storage.discussions.chunk_ledger import FileChunkLedger
from mnemoir.storage.discussions.files import FileDiscussionFiles
from mnemoir.storage.discussions.record_store import SqliteRecordStore

STORES = ("summaries", "records")
POLICY = ChunkPolicy(target_tokens=20, most_messages=4, lookback=3)


def said(*texts: str) -> list[Message]:
    """Messages of people and models in turn."""
    return [text_message("assistant" if at % 2 else "user", text) for at, text in enumerate(texts)]


@dataclass(kw_only=True)
class Memory:
    """What is kept of one discussion in `root`, in the store of that kind."""

    root: Path
    kind: str
    policy: ChunkPolicy = POLICY
    read: Counter[str] = field(default_factory=Counter)  # texts that `worker` was given

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        self.discussion = Discussion(root=self.root, id="tea-time")
        self.files = FileDiscussionFiles()
        self.store: FileChunkLedger | SqliteRecordStore = (
            FileChunkLedger() if self.kind == "summaries" else SqliteRecordStore()
        )

    async def worker(self, chunk: Chunk) -> str:
        self.read[chunk.text] += 1
        return f"of {chunk.text}"

    async def keep(self, result: str, source: ChunkSource, before: BlockKey | None) -> None:
        if isinstance(self.store, SqliteRecordStore):
            item = {"title": "t", "summary": result, "entities": [], "key_phrases": []}
            await self.store.append(self.discussion, [NewRecord(metadata=item)], source, before=before)
        else:
            await self.store.append(self.discussion, result, source, before=before)

    async def make(
        self, messages: Sequence[Message], *workers, in_order: bool = True, control: Control | None = None
    ) -> Made:
        return await make(
            self.store,
            self.files,
            self.discussion,
            messages,
            self.policy,
            self.keep,
            workers or [self.worker],
            in_order=in_order,
            control=control,
        )

    async def plan(self, messages: Sequence[Message]) -> Plan:
        return await plan(self.store, self.discussion, messages, self.policy)

    async def chunks(self, *, stale: bool = False) -> list[list[str]]:
        """What the messages of each live chunk, or each stale one, say, in the order of the conversation."""
        sources = await self.store.sources(self.discussion)
        blocks = await self.store.blocks(self.discussion)
        return [[message.text for message in sources[block.key]] for block in blocks if block.is_stale == stale]

    async def covered(self, *, stale: bool = False) -> list[str]:
        """The same, one message after the other."""
        return [text for chunk in await self.chunks(stale=stale) for text in chunk]

    async def aclose(self) -> None:
        if isinstance(self.store, SqliteRecordStore):
            await self.store.aclose()
