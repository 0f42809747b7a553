"""The store of run traces, and a feed of runs and nodes as they happen."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal, Protocol

from mnemoir.core.runs import NodeTrace, RunStatus, RunTrace
from mnemoir.core.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """A run in a list.

    `question` is the beginning of the user's last message, "" when its text is not kept. `user` is the user of the
    config tree; `project` and `user_id` belong to the memories; `conversation` is the
    stored conversation of the answer. `nodes`, `memories` and the token counts add up all workflows of the run.
    """

    id: str
    started_at: str
    status: RunStatus
    question: str
    user: str
    project: str
    user_id: str
    conversation: str | None
    model: str
    stream: bool
    workflow: str  # name of the last top-level workflow
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
    """A node of a running run has begun, sent its first token, or ended; its trace is in the run."""

    run_id: str
    number: int
    title: str
    type: str
    state: Literal["running", "finished", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilter:
    """The filter of a list of runs; None filters nothing. `tenant`, `projects` and `user_id` narrow whose they are.

    All of `words` stand in the question, ignoring case and width. `workflow` is a name, ignoring case; `user` is a
    user of the config tree or a user id; `error` is a part of the message, ignoring the case of ASCII letters;
    `since` is a time as in `core.clock`. `workflow` and `error` match only runs that have ended.
    """

    words: str | None = None
    status: RunStatus | None = None
    workflow: str | None = None
    conversation: str | None = None
    user: str | None = None
    error: str | None = None
    since: str | None = None
    tenant: str | None = None
    projects: tuple[str, ...] | None = None
    user_id: str | None = None


def every_scope(scope: Scope) -> bool:
    """True: the choice of a subscriber to all runs."""
    return True


MOST_FOLLOWERS = 64  # subscribers at once
ALL_RUNS = RunFilter()


class RunWatcher(Protocol):
    """Receives the events of runs. None of its methods waits for the disk."""

    def note_begin(self, run: RunTrace) -> None:
        """Register a running trace and notify subscribers."""

    def note_node(self, run: RunTrace, node: NodeTrace) -> None:
        """Notify subscribers of nodes that a node of a running trace has begun, sent its first token, or ended."""

    def note_end(self, run: RunTrace) -> None:
        """Queue the trace of an ended run for writing and notify subscribers."""


class RunStore(RunWatcher, Protocol):
    """The last runs, limited in number and age."""

    async def get(self, run_id: str, reaches: Callable[[Scope], bool] = every_scope) -> RunTrace | None:
        """The trace of a run, also of a running one; None for an unknown or removed id, and outside `reaches`."""

    async def latest(
        self, *, limit: int, before: str | None = None, only: RunFilter = ALL_RUNS
    ) -> Sequence[RunSummary]:
        """At most `limit` runs, newest first, older than the run with the id `before`."""

    async def count(self) -> int:
        """The number of stored runs."""

    def follow(
        self, *, nodes: bool = False, of: Callable[[Scope], bool] = every_scope
    ) -> AsyncGenerator[RunSummary | NodeMoved, None]:
        """Subscribe to runs as they begin and end, and with `nodes` to their nodes. A slow subscriber misses some.

        `of` chooses them by their scopes.
        """

    async def tokens(self, since: date) -> Mapping[str, tuple[int, int]]:
        """The tokens of all runs that began on each UTC day since `since`: (input, output), also of removed runs.

        Days without any are left out. They are kept for DAILY_DAYS.
        """

    async def projects_of(self, tenant: str, user: str) -> Sequence[str]:
        """The projects in which a user has runs, or had some whose tokens are still counted, by name."""

    async def tokens_of(self, scope: Scope) -> Mapping[str, tuple[int, int]]:
        """The tokens of each day of the scope's user: (input, output)."""

    async def forget(self, scope: Scope) -> None:
        """Delete all runs of the scope's user, or of its project when the user is "".

        With a conversation in the scope, delete the runs that answered in it, and the runs that were shown memories,
        as these may come from it; without one, their tokens by day too.
        """

    async def drop_old(self) -> None:
        """Delete runs that are older than they are kept, and tokens of long ago."""

    async def aclose(self) -> None:
        """Write the queued traces."""
