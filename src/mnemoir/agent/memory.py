"""The session memory of an agent: reads history and stores messages; storage errors do not end a run.

`MemoryManager` of `mnemoir.conversations` is such a memory. Its calls block, so they run in a thread.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import structlog

from mnemoir.conversations.windows.validity import SUMMARY_PREFIX, close_open_calls
from mnemoir.core.conversations import Message, SessionRecord
from mnemoir.core.errors import StorageUnavailable
from mnemoir.ports.log import WindowRows

_log = structlog.get_logger(__name__)


class AgentMemory(Protocol):
    """The methods of a session memory that an agent uses. All but the search block and raise StorageUnavailable."""

    @property
    def semantic_search_enabled(self) -> bool: ...

    def get_session(self, session_id: str) -> SessionRecord | None: ...

    def get_or_create_session(self, session_id: str, system_prompt: str) -> tuple[str, bool]: ...

    def load_history(self, session_id: str) -> Sequence[Message]: ...

    def save_message(self, session_id: str, message: Message) -> int: ...

    async def search_similar(
        self, query: str, top_k: int = 5, session_id: str | None = None, min_similarity: float | None = None
    ) -> Sequence[Message]: ...


@runtime_checkable
class KeepsPins(Protocol):
    """A memory with pinned messages, whose storage can list them."""

    @property
    def storage(self) -> WindowRows: ...


if TYPE_CHECKING:
    from mnemoir.conversations.memory_manager import MemoryManager

    _memory: type[AgentMemory] = MemoryManager  # checked, never run
    _pins: type[KeepsPins] = MemoryManager


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """The user and the agent of the current session, for whom messages are recalled; None where unknown."""

    user: str | None = None
    agent: str | None = None


def reader_of(session: SessionRecord | None) -> Reader:
    """The reader named in a session's metadata; without a session, a reader without user and agent."""
    if session is None:
        return Reader()
    metadata = session.metadata
    return Reader(user=_text_or_none(metadata.user), agent=_text_or_none(metadata.custom.get("agent")))


class SessionMemory:
    """One session during one run. Without a manager or a session id, nothing is read or stored.

    `degraded` names the parts that failed: "history" or "storing". After a failed store, no later message of the run
    is stored, so that no answer is stored without its question.
    """

    def __init__(self, manager: AgentMemory | None, session_id: str | None, system_prompt: str) -> None:
        self._manager = manager if session_id else None
        self._session_id = session_id or ""
        self._system_prompt = system_prompt
        self._is_open = False
        self.degraded: tuple[str, ...] = ()

    async def history(self) -> list[Message]:
        """The stored messages: every tool call with a result; of system messages only summaries and pinned ones."""
        if self._manager is None:
            return []
        try:
            return await asyncio.to_thread(_history, self._manager, self._session_id)
        except StorageUnavailable as exc:
            self._note_failure("history", exc)
            return []

    async def instructions(self) -> list[Message]:
        """The system message: the agent's prompt, else the session's own; [] when both are empty."""
        prompt = self._system_prompt
        if not prompt and self._manager is not None:
            try:
                session = await asyncio.to_thread(self._manager.get_session, self._session_id)
            except StorageUnavailable as exc:
                self._note_failure("history", exc)
                return []
            prompt = session.system_prompt if session else ""
        return [Message("system", prompt)] if prompt else []

    async def reader(self) -> Reader:
        """The reader of this session. Raises StorageUnavailable."""
        if self._manager is None:
            return Reader()
        return reader_of(await asyncio.to_thread(self._manager.get_session, self._session_id))

    async def store(self, message: Message) -> None:
        """Store a message; the first one creates the session."""
        if self._manager is None or "storing" in self.degraded:
            return
        try:
            await asyncio.to_thread(self._store, self._manager, message)
        except StorageUnavailable as exc:
            self._note_failure("storing", exc)

    def _store(self, manager: AgentMemory, message: Message) -> None:
        if not self._is_open:
            manager.get_or_create_session(self._session_id, self._system_prompt)
            self._is_open = True
        manager.save_message(self._session_id, message)

    def _note_failure(self, what: str, exc: StorageUnavailable) -> None:
        self.degraded = (*self.degraded, *(() if what in self.degraded else (what,)))
        _log.warning("agent memory failed", part=what, error=exc.message)


def _history(manager: AgentMemory, session_id: str) -> list[Message]:
    loaded = manager.load_history(session_id)
    instructions = [message for message in loaded if message.role == "system" and not _is_summary(message)]
    kept = _pinned_messages(manager, session_id) if instructions else []
    return close_open_calls([message for message in loaded if message not in instructions or message in kept])


def _pinned_messages(manager: AgentMemory, session_id: str) -> list[Message]:
    if not isinstance(manager, KeepsPins):
        return []
    important = manager.storage.important_messages(session_id, 1.0)
    return [stored.message for stored in important if stored.pinned]


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _is_summary(message: Message) -> bool:
    return message.text.startswith(SUMMARY_PREFIX)
