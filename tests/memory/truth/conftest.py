"""Facts of one user over a real database and the real embedder; the model is the offline one, or plays a part."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest

from mnemoir.core.messages import ModelRequest
from mnemoir.core.scope import Scope
from mnemoir.memory.facts import AddRequest, AddResult, Facts, FactSettings, Turn
from mnemoir.ports.llm import ChatModel
from mnemoir.providers.embedding.minilm_model import MiniLM
from mnemoir.providers.llm.offline import OfflineModel
from mnemoir.search.indexing import Indexing
from mnemoir.search.recall import Recall
from mnemoir.storage.sql import SqlMemoryStore, SqlProjectSettings, SqlProposals
from mnemoir.storage.sqlite import open_database
from tests.memory.facts.scripted_model import ScriptedModel, document_of, facts_reply

MIRA = Scope(project="kitchen", user="mira")
BEGIN = datetime(2026, 3, 4, 9, 15, tzinfo=UTC)
DAY = timedelta(days=1)


def day(text: str) -> datetime:
    """A day at noon."""
    return datetime.fromisoformat(text).replace(hour=12, tzinfo=UTC)


class Clock:
    """A clock that moves a day with each telling."""

    now = BEGIN

    def __call__(self) -> datetime:
        return self.now


@dataclass
class Life:
    """What one user tells, and what is remembered of it."""

    facts: Facts
    store: SqlMemoryStore
    indexing: Indexing
    clock: Clock

    async def tell(self, text: str, said_at: datetime | None = None) -> AddResult:
        """Add one user turn; a day passes."""
        return await self.tell_all([(text, None)], said_at)

    async def tell_all(
        self, turns: Sequence[tuple[str, datetime | None]], said_at: datetime | None = None
    ) -> AddResult:
        """Add turns with their own times in one request; a day passes."""
        request = AddRequest(turns=[Turn(role="user", text=text, said_at=at) for text, at in turns], said_at=said_at)
        result = await self.facts.add(MIRA, request)
        self.clock.now += DAY
        return result

    async def now(self) -> list[str]:
        """The memories of today, in order of the alphabet."""
        return sorted(memory.text for memory in await self.facts.page(MIRA, limit=1000))

    async def at(self, time: datetime) -> list[str]:
        """The memories that were current then."""
        return sorted(memory.text for memory in await self.facts.page(MIRA, limit=1000, at=time))

    async def duplicates(self) -> list[list[str]]:
        """The groups that are offered, each in order of the alphabet."""
        groups, _ = await self.facts.duplicates(MIRA)
        return sorted(sorted(memory.text for memory in group.memories) for group in groups)


@pytest.fixture
async def live(tmp_path: Path) -> AsyncIterator[Callable[..., Life]]:
    """`live(model)` begins a life with a model; without one, with the offline model."""
    clock = Clock()
    db = open_database(tmp_path / "memories.sqlite3")
    store, embedding = SqlMemoryStore(db, clock=clock), MiniLM()

    def begun(model: ChatModel | None = None, **defaults: Any) -> Life:
        facts = Facts(
            store=store,
            proposals=SqlProposals(db, clock),
            recall=Recall(store, embedding),
            indexing=Indexing(embedding),
            model=lambda: model or OfflineModel(),
            project_settings=SqlProjectSettings(db),
            defaults=FactSettings(**defaults),
            clock=clock,
        )
        return Life(facts=facts, store=store, indexing=Indexing(embedding), clock=clock)

    yield begun
    await embedding.aclose()
    await store.aclose()
    await db.aclose()


def model_that(event: str, told: Mapping[str, Sequence[str]] | None = None) -> ScriptedModel:
    """A model that takes each line of a turn for a fact, or what `told` has for it, and decides all with one event.

    UPDATE and DELETE are given to all memories shown; beside a DELETE the fact is added.
    """

    def script(request: ModelRequest) -> str:
        asked = document_of(request)
        if "turns" in asked:
            lines = [line for turn in asked["turns"] for line in turn["text"].splitlines()]
            return facts_reply(*(fact for line in lines for fact in (told or {}).get(line, [line])))
        rows = [
            {"id": memory["id"], "text": fact if event == "UPDATE" else memory["text"], "event": event}
            for memory in asked["memories"]
            for fact in asked["facts"]
        ]
        added = [{"id": "new", "text": fact, "event": "ADD"} for fact in asked["facts"]]
        return orjson.dumps({"memory": added if event == "ADD" else rows + added * (event == "DELETE")}).decode()

    return ScriptedModel(script=script)
