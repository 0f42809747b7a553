"""Where runs are written down."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Protocol

from mnemoir.core.runs import RunStatus, RunTrace
from mnemoir.core.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """A run in a list."""

    id: str
    started_at: str
    status: RunStatus
    user: str
    model: str
    workflow: str  # the name of the last one run at the top
    category: str | None
    duration_ms: float | None
    error: str | None


class RunStore(Protocol):
    """The last runs, limited in number and age. Nothing here waits for a disk while a request does."""

    def begun(self, run: RunTrace) -> None:
        """A run begins: those who follow hear of it."""

    def ended(self, run: RunTrace) -> None:
        """A run has ended: it is written down soon, and those who follow hear of it."""

    async def get(self, run_id: str) -> RunTrace | None:
        """A run by its id, also one under way; None when there is none (any more)."""

    async def latest(
        self, *, limit: int, before: str | None = None, status: RunStatus | None = None
    ) -> Sequence[RunSummary]:
        """Newest first; `before` is the id of the last one seen."""

    def follow(self) -> AsyncGenerator[RunSummary, None]:
        """Runs as they begin and end; a follower who is too slow misses some."""

    async def forget(self, scope: Scope) -> None:
        """Remove every run of the scope's user, or of its project when it names none.

        Of a scope with a conversation, those that answered in it, and those that were shown memories, which may be of
        it.
        """

    async def aclose(self) -> None:
        """Write down what waits."""
