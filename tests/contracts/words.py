"""Short words for the contract suites: a clock, scopes, memories and changes."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from mnemoir.core.clock import to_text
from mnemoir.core.ids import MemoryId, new_memory_id
from mnemoir.core.memories import Add, IndexEntry, Memory, Provenance, Remove, SourceTurn, Update
from mnemoir.core.scope import Scope
from mnemoir.ports.memory_store import Project, Visible

NOW = datetime(2026, 1, 21, 10, 30, tzinfo=UTC)
MIRA = Scope(project="demo", user="mira")
DEMO = Project(tenant="default", project="demo")
SAID = SourceTurn(role="user", text="I like tea.", speaker="Mira", said_at="2026-01-21T10:30:00.000Z")
ASKED = Provenance(reason="extracted", model="offline", turns=(SAID,))
ALL = Visible(now=NOW + timedelta(days=3650))


class SetClock:
    """Stands still until it is moved; `on_move` does the same to another one, by so many seconds."""

    def __init__(self) -> None:
        self.now = NOW
        self.on_move: Callable[[float], object] = lambda _: None

    def __call__(self) -> datetime:
        return self.now

    def move(self, **by: float) -> None:
        self.now += timedelta(**by)
        self.on_move(timedelta(**by).total_seconds())


def entry(text: str, model: str | None = "m1") -> IndexEntry:
    """A made-up entry that differs from text to text; of words only without a model."""
    mark = text.encode().ljust(8)[:8]
    if model is None:
        return IndexEntry(terms=mark)
    return IndexEntry(terms=mark, model=model, vector=mark * 2, token_ids=mark, token_codes=mark * 6)


def fact(text: str, *, scope: Scope = MIRA, model: str | None = "m1", **members) -> Add:
    members = {"created_at": to_text(NOW), "updated_at": to_text(NOW)} | members
    place = {"agent": scope.agent, "app": scope.app, "conversation": scope.conversation}
    all_members: dict[str, Any] = {"id": new_memory_id(), "text": text, "user": scope.user} | place | members
    memory = Memory(**all_members)
    return Add(memory=memory, entry=entry(text, model))


def message(text: str, *, scope: Scope = MIRA, model: str | None = "m1", **members) -> Add:
    return fact(text, scope=scope, model=model, **{"kind": "message", "role": "user", "speaker": "Mira"} | members)


def rewrite(target: Memory | MemoryId, text: str, *, expected: str | None = None) -> Update:
    memory_id, before = (target.id, target.text) if isinstance(target, Memory) else (target, "")
    return Update(target=memory_id, expected=before if expected is None else expected, text=text, entry=entry(text))


def remove(target: Memory, *, replaced_by: int | None = None, expected: str | None = None) -> Remove:
    before = target.text if expected is None else expected
    return Remove(target=target.id, expected=before, replaced_by=replaced_by, reason="superseded")


def within(scope: Scope, **inner: str) -> Scope:
    return replace(scope, **inner)


async def keep(store, *adds: Add, scope: Scope = MIRA) -> list[Memory]:
    """Store them in one commit; the memories as stored."""
    return [applied.memory for applied in await store.commit(scope, adds, ASKED)]


async def texts(store, scope: Scope = MIRA, visible: Visible = ALL) -> list[str]:
    """What a page shows, newest first; and the count must say the same."""
    page = await store.page(scope, visible, limit=1000)
    assert await store.count(scope, visible) == len(page)
    return [memory.text for memory in page]
