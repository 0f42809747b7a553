"""Where runs are written down."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from mnemoir.core.runs import NodeTrace, RunStatus, RunTrace
from mnemoir.core.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """A run in a list.

    `user` is that of the config tree, `project` and `user_id` are those of the memories, `conversation` is the stored
    one that was answered in. `nodes` and `memories` count those of all workflows of the run, as do the tokens.
    """

    id: str
    started_at: str
    status: RunStatus
    user: str
    project: str
    user_id: str
    conversation: str | None
    model: str
    stream: bool
    workflow: str  # the name of the last one run at the top
    category: str | None
    first_token_ms: float | None
    duration_ms: float | None
    nodes: int
    memories: int
    input_tokens: int
    output_tokens: int
    tokens_counted: bool
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeMoved:
    """A node of a run under way has begun, has said its first word, or has ended; what it did is in the run."""

    run_id: str
    number: int
    title: str
    type: str
    state: Literal["running", "finished", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilter:
    """Which runs to list; None narrows nothing.

    `workflow` is a name without regard to case, `user` that of the config tree or a user id, `error` a part of the
    message without regard to the case of ASCII letters, `since` a time as in `core.clock`. A run under way is found
    by its workflow and error only once it has ended.
    """

    status: RunStatus | None = None
    workflow: str | None = None
    conversation: str | None = None
    user: str | None = None
    error: str | None = None
    since: str | None = None


ALL_RUNS = RunFilter()


class RunStore(Protocol):
    """The last runs, limited in number and age. Nothing here waits for a disk while a request does."""

    def begun(self, run: RunTrace) -> None:
        """A run begins: those who follow hear of it."""

    def moved(self, run: RunTrace, node: NodeTrace) -> None:
        """A node of a run under way begins, speaks or ends: those who follow nodes too hear of it."""

    def ended(self, run: RunTrace) -> None:
        """A run has ended: it is written down soon, and those who follow hear of it."""

    async def get(self, run_id: str) -> RunTrace | None:
        """A run by its id, also one under way; None when there is none (any more)."""

    async def latest(
        self, *, limit: int, before: str | None = None, only: RunFilter = ALL_RUNS
    ) -> Sequence[RunSummary]:
        """Newest first; `before` is the id of the last one seen."""

    async def count(self) -> int:
        """How many runs are kept."""

    def follow(self, *, nodes: bool = False) -> AsyncGenerator[RunSummary | NodeMoved, None]:
        """Runs as they begin and end, with `nodes` also their nodes; a follower who is too slow misses some."""

    async def forget(self, scope: Scope) -> None:
        """Remove every run of the scope's user, or of its project when it names none.

        Of a scope with a conversation, those that answered in it, and those that were shown memories, which may be of
        it.
        """

    async def aclose(self) -> None:
        """Write down what waits."""
