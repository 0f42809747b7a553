"""Session memory as scripts and agents use it: `MemoryManager`, over one file, without a server.

Plain methods block. Search errors never fail saving: back-filling adds missing vectors later.
"""

import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, Self, overload

from mnemoir.conversations.log.message_rows import record_of
from mnemoir.conversations.managed_tree import ManagedTree
from mnemoir.conversations.search.client_model import ClientModel
from mnemoir.conversations.search.embedding import AnyEmbeddingClient
from mnemoir.conversations.search.session_search import SearchHost
from mnemoir.conversations.search.vectors import AnyVectorStore
from mnemoir.conversations.windows.counters import CHARS4, TokenCounter
from mnemoir.conversations.windows.fitting import fit
from mnemoir.conversations.windows.strategies.tail import SimpleStrategy, Strategy
from mnemoir.core.conversations import (
    Message,
    SessionMetadata,
    SessionRecord,
    checked_session_id,
    messages_of,
    metadata_of,
)
from mnemoir.ports.backends import backend
from mnemoir.ports.log import Log

if TYPE_CHECKING:  # the code for six file formats is loaded on demand
    from mnemoir.conversations.transfer import ExportFormat, ImportReport, OnConflict

_CLOSING_S = 5.0


class MemoryManager(ManagedTree):
    """Thread-safe. Methods raise StorageUnavailable when the file cannot be read or written."""

    def __init__(
        self,
        storage_path: str | Path | Log,
        max_history_tokens: int = 4096,
        embedding_client: AnyEmbeddingClient | None = None,
        vector_store: AnyVectorStore | None = None,
        *,
        strategy: Strategy | None = None,
        counter: TokenCounter = CHARS4,
        embed_sync: bool = True,
        synced: bool = False,
        on_corruption: Literal["set_aside", "raise"] = "set_aside",
        host: SearchHost | None = None,
        cells: object | None = None,
        membership: object | None = None,
    ) -> None:
        """Without a `strategy` windows hold the newest messages. In place of a path a log may be given, to be closed.

        With `embed_sync` a save waits for its vectors, except in a thread whose event loop is running. `synced`,
        `on_corruption`, `cells` and `membership` are those of `MemoryStorage`; `host` is the server that runs the
        search, if any. Raises SettingsError when a back-end is not installed, and for an embedding client whose
        `model_name` is no text. The name is read here and never again; a client without one embeds two texts here.
        """
        model = None if embedding_client is None else ClientModel(embedding_client)
        given = {name: value for name, value in (("cells", cells), ("membership", membership)) if value is not None}
        storage: Log = (
            backend("sqlite-sessions")(storage_path, synced=synced, on_corruption=on_corruption, **given)
            if isinstance(storage_path, str | Path)
            else storage_path
        )
        super().__init__(
            storage, embedding_client, vector_store, model=model, counter=counter, embed_sync=embed_sync, host=host
        )
        self.max_history_tokens = max_history_tokens
        self.strategy = strategy or SimpleStrategy(counter=counter)

    def create_session(
        self,
        system_prompt: str,
        metadata: SessionMetadata | Mapping[str, Any] | None = None,
        session_id: str | None = None,
    ) -> str:
        """Create a session; return its id, a new UUID unless given. Unknown metadata keys go to `custom`.

        Raises SessionExistsError when the id is taken.
        """
        new_id = session_id or str(uuid.uuid4())
        self.storage.create_session(new_id, system_prompt, metadata_of(metadata))
        return new_id

    def get_session(self, session_id: str) -> SessionRecord | None:
        """The session of that id."""
        return self.storage.get_session(session_id)

    def session_exists(self, session_id: str) -> bool:
        """True when the session exists."""
        return self.storage.get_session(session_id) is not None

    def get_or_create_session(
        self,
        session_id: str | None,
        system_prompt: str,
        metadata: SessionMetadata | Mapping[str, Any] | None = None,
    ) -> tuple[str, bool]:
        """The id, and True if it was created now. Prompt and metadata are for a new session only."""
        the_id = session_id or str(uuid.uuid4())
        return the_id, self.storage.open_session(the_id, system_prompt, metadata_of(metadata))

    def update_metadata(self, session_id: str, metadata: SessionMetadata | Mapping[str, Any]) -> bool:
        """Replace the session's metadata; False when the session is unknown."""
        return self.storage.update_session(session_id, metadata=metadata_of(metadata))

    def save_message(self, session_id: str, message: Message, *, system_prompt: str = "") -> int:
        """Save a message; return its id. An unknown session is created, with `system_prompt`."""
        return self.save_messages(session_id, [message], system_prompt=system_prompt)[0]

    def save_messages(self, session_id: str, messages: Sequence[Message], *, system_prompt: str = "") -> list[int]:
        """Save all messages or none; return their ids, in order. Much faster than one by one."""
        checked_session_id(session_id)
        records = [record_of(session_id, message) for message in messages]
        ids = self.storage.save_messages(records, system_prompt=system_prompt, embedding_model=self.embedding_model)
        self._embed_new_messages(ids, records)
        return ids

    def load_history(self, session_id: str, max_tokens: int | None = None) -> list[Message]:
        """The window: the messages of the session to send to the model, oldest first, within the budget.

        Unless it is the whole thread, it begins with a user's message, behind system messages. [] for an unknown
        session, which is not created. Tool calls without a result get a placeholder result.
        """
        budget = self.max_history_tokens if max_tokens is None else max_tokens
        return self.strategy.window(self.storage, session_id, budget)

    def load_session(self, session_id: str) -> list[Message]:
        """The whole thread as it was stored, oldest first."""
        return self.storage.load_messages(session_id)

    def get_recent_messages(
        self, session_id: str, count: int = 10, *, max_tokens: int | None = None
    ) -> list[Message]:
        """The last `count` messages of the thread, oldest first; of these the newest that fit into `max_tokens`.

        They are as they were stored: the first one may be an answer. `load_history` gives what a model is sent.
        """
        recent = messages_of(reversed(self.storage.newest_messages(session_id, count)))
        return recent if max_tokens is None else fit(recent, max_tokens, self._counter, unit="message")

    def list_sessions(self, limit: int = 10, offset: int = 0) -> list[SessionRecord]:
        """Sessions, newest activity first."""
        return self.storage.list_sessions(limit, offset)

    def delete_session(self, session_id: str) -> bool:
        """Delete a session with its messages, summary and vectors; False when it is unknown."""
        with self._deleting():
            return self.storage.delete_session(session_id)

    def clear_history(self, session_id: str) -> int:
        """Delete the session's messages, summary and vectors but keep the session; return the number of messages."""
        with self._deleting():
            return self.storage.clear_messages(session_id)

    def clear_context(self, session_id: str) -> int | None:
        """Make windows begin after the head, deleting nothing; return the head's id, None without one."""
        return self.storage.mark_context(session_id)

    def pin_message(self, message_id: int) -> bool:
        """Make strategies keep a message in every window; False when it does not exist."""
        return self.storage.set_pinned(message_id, True)

    def unpin_message(self, message_id: int) -> bool:
        """Undo `pin_message`."""
        return self.storage.set_pinned(message_id, False)

    def get_message_count(self, session_id: str) -> int:
        """The number of messages on the thread of the session."""
        return self.storage.get_message_count(session_id)

    @overload
    def prune_old_sessions(self, days: int = 30, *, dry_run: Literal[False] = False) -> int: ...

    @overload
    def prune_old_sessions(self, days: int = 30, *, dry_run: Literal[True]) -> list[str]: ...

    def prune_old_sessions(self, days: int = 30, *, dry_run: bool = False) -> int | list[str]:
        """Delete sessions unused for more than `days` days, unless `metadata.custom.keep` is set; return how many.

        With `dry_run` delete nothing and return their ids. Raises ValueError for a negative number.
        """
        if dry_run:
            return self.storage.old_sessions(days)
        with self._deleting():
            return self.storage.prune_old_sessions(days)

    def export_session(self, session_id: str, file: str | Path | BinaryIO, format: "ExportFormat" = "jsonl") -> int:
        """Write a session to a file, completely or not at all; return the number of bytes. Raises NotFound."""
        from mnemoir.conversations.transfer import export_session, write_export

        return write_export(export_session(self, session_id, format), file)

    def export_all(self, file: str | Path | BinaryIO) -> int:
        """Write all sessions to a file as JSON lines; return the number of bytes."""
        from mnemoir.conversations.transfer import export_all, write_export

        return write_export(export_all(self), file)

    def import_session(
        self, file: str | Path | BinaryIO, on_conflict: "OnConflict" = "skip", dry_run: bool = False
    ) -> "ImportReport":
        """Store the sessions of a file; return a report. Raises InvalidImport for a broken file; stores nothing."""
        from mnemoir.conversations.transfer import import_sessions

        return import_sessions(self, file, on_conflict=on_conflict, dry_run=dry_run)

    def close(self) -> None:
        """Finish the work under way, for some seconds at most, and close the file. May be called twice."""
        self._close_search()
        self.strategy.drain(_CLOSING_S)
        self.storage.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
