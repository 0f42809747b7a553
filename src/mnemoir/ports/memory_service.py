"""Memory as the chat uses it: over HTTP, wherever it runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from mnemoir.core.fence import RecalledLine
from mnemoir.core.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """What a search found for the prompt; `degraded` names what was missing, "" when nothing was."""

    lines: Sequence[RecalledLine] = ()
    degraded: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatTurn:
    """One finished exchange, the user's words as typed. `said_at` as in `core.clock`.

    `answer` is empty when it was cut at the token limit: a cut answer is no source of memories, the user's words are.
    The uids name the messages of a stored conversation.
    """

    user_text: str
    answer: str
    said_at: str
    user_uid: str | None = None
    answer_uid: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """A memory that changed because of a turn; `event` is ADD, UPDATE or DELETE."""

    memory_id: str
    event: str


class MemoryService(Protocol):
    """Raises ProviderError when the service cannot be reached or refuses."""

    async def search(self, scope: Scope, query: str, *, limit: int, credential: str | None) -> Recalled:
        """What bears on `query`, best first, at most `limit`. The caller's `credential` is sent on."""

    async def remember(self, scope: Scope, turn: ChatTurn, *, key: str) -> Sequence[Learned]:
        """Derive memories from a turn, once per `key` however often it is called; what became of it."""
