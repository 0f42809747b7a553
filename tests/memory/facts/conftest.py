"""Fact memory over a real database and the real embedder; only the model is played."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mnemoir.core.scope import Scope
from mnemoir.memory.facts import AddRequest, AddResult, Facts, FactSettings, Turn
from mnemoir.ports.llm import ChatModel
from mnemoir.providers.embedding.minilm_model import MiniLM
from mnemoir.providers.llm.offline import OfflineModel
from mnemoir.search.indexing import Indexing
from mnemoir.search.recall import Recall
from mnemoir.storage.sql import SqlMemoryStore, SqlProjectSettings, SqlProposals
from mnemoir.storage.sqlite import open_database

MIRA = Scope(project="kitchen", user="mira")


@dataclass
class Clock:
    """A clock that a test sets."""

    now: datetime = datetime(2026, 3, 4, 9, 15, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@dataclass
class House:
    """One store and what stands on it."""

    store: SqlMemoryStore
    proposals: SqlProposals
    project_settings: SqlProjectSettings
    embedding: MiniLM
    clock: Clock = field(default_factory=Clock)

    def facts(self, model: ChatModel | None = None, **defaults: Any) -> Facts:
        return Facts(
            store=self.store,
            proposals=self.proposals,
            recall=Recall(self.store, self.embedding),
            indexing=Indexing(self.embedding),
            model=lambda: model or OfflineModel(),
            project_settings=self.project_settings,
            defaults=FactSettings(**defaults),
            clock=self.clock,
        )


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    clock = Clock()
    db = open_database(tmp_path / "memories.sqlite3")
    store, embedding = SqlMemoryStore(db, clock=clock), MiniLM()
    yield House(
        store=store,
        proposals=SqlProposals(db, clock),
        project_settings=SqlProjectSettings(db),
        embedding=embedding,
        clock=clock,
    )
    await embedding.aclose()
    await store.aclose()
    await db.aclose()


@pytest.fixture
def tell() -> Callable[..., object]:
    """`await tell(facts, "text", …)` adds user turns of one conversation for mira."""

    async def told(facts: Facts, *texts: str, scope: Scope = MIRA, **members: Any) -> AddResult:
        turns = [Turn(role="user", text=text) for text in texts]
        return await facts.add(scope, AddRequest(turns=turns, **members))

    return told


@pytest.fixture
def kept() -> Callable[..., object]:
    """`await kept(facts)` gives the texts mira's memory shows, in order of the alphabet."""

    async def texts(facts: Facts, scope: Scope = MIRA) -> list[str]:
        return sorted(memory.text for memory in await facts.page(scope, limit=1000))

    return texts
