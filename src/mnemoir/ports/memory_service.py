"""The memory service as the chat uses it: an HTTP service in this process or elsewhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from mnemoir.core.scope import Scope
from mnemoir.core.text import RecalledLine


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallResult:
    """The memories found for a prompt; `degraded` names search stages that failed, "" for none."""

    lines: Sequence[RecalledLine] = ()
    degraded: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallLimits:
    """How much a prompt takes of memory: tokens in all and of facts. `count` is for servers that count memories."""

    count: int
    tokens: int
    fact_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatTurn:
    """One finished turn: the user's text as typed, and the answer. `said_at` is as in `core.clock`.

    `answer` is "" for an answer cut at the token limit: then only the user's text is a source of memories. The uids
    are those of the messages in a stored conversation. `outside` is what tools and documents said in the turn, each
    as its origin and its text; `context` is what was said just before it, each as its role and its text. `zone` is
    the name of the person's time zone, in which `said_at` is written.
    """

    user_text: str
    answer: str
    said_at: str
    user_uid: str | None = None
    answer_uid: str | None = None
    outside: Sequence[tuple[str, str]] = ()
    zone: str | None = None
    context: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryChange:
    """A change of a memory caused by a turn; `event` is ADD, UPDATE or DELETE."""

    memory_id: str
    event: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What a turn changed, the ids of the memories that said it already, and what waits for a review, by proposal.

    `left_out` counts the facts that may not be stored, by the reason.
    """

    changes: Sequence[MemoryChange] = ()
    known: Sequence[str] = ()
    proposed: Sequence[MemoryChange] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)


class MemoryService(Protocol):
    """The memory service. Both methods raise ProviderError when it cannot be reached or refuses."""

    async def search(
        self, scope: Scope, query: str, *, limits: RecallLimits, credential: str | None, before: Sequence[str] = ()
    ) -> RecallResult:
        """The memories most relevant to `query` within the limits, oldest first, so that equal sets read the same.

        `before` is what was said just before it. The caller's `credential` is sent on.
        """

    async def remember(self, scope: Scope, turn: ChatTurn, *, key: str) -> Remembered:
        """Derive memories from a turn. Repeated calls with one `key` have one effect."""
