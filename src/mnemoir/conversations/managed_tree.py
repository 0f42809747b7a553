"""Branches as the manager of sessions offers them. One of the parts of `MemoryManager`; all methods block."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from mnemoir.conversations.log.message_rows import record_of
from mnemoir.conversations.managed_search import ManagedSearch
from mnemoir.core.conversation_messages import Message
from mnemoir.core.conversations import (
    MessageNotFoundError,
    Placed,
    SessionMetadata,
    StoredMessage,
    checked_session_id,
    metadata_of,
)

BRANCHED_FROM = "branched_from"  # in `metadata.custom`: the session and the message that a copy ends with
_PAGE = 500


class ManagedTree(ManagedSearch):
    """The thread of a session is the way from its first message to its head; other branches hang on it."""

    def append_messages(
        self,
        session_id: str,
        messages: Sequence[Message],
        *,
        parent_id: int | None = None,
        system_prompt: str = "",
        run_id: str | None = None,
        finish_reason: str | None = None,
    ) -> list[int]:
        """Put them behind a message, on whichever branch it is; the ids. The last of them is the head afterwards.

        `parent_id` ROOT is the beginning, None the head. An unknown session is created. Raises MessageNotFoundError
        for a parent that the session does not have.
        """
        checked_session_id(session_id)
        records = [record_of(session_id, one, run_id=run_id, finish_reason=finish_reason) for one in messages]
        ids = self.storage.append_messages(
            session_id,
            records,
            parent_id=parent_id,
            system_prompt=system_prompt,
            embedding_model=self.embedding_model,
        )
        self._saved(ids, records)
        return ids

    def resume_history(
        self,
        session_id: str,
        history: Sequence[Message],
        *,
        parent_id: int | None = None,
        system_prompt: str = "",
        run_id: str | None = None,
    ) -> Placed:
        """Take the history that a client holds: add what is new; its end becomes the head.

        System messages are passed over and have no id in the result. `TreeRows.append` says how the others are found
        again; with `parent_id` they stand right behind this message. Raises MessageNotFoundError.
        """
        checked_session_id(session_id)
        records = [record_of(session_id, one, run_id=run_id) for one in history if one.role != "system"]
        placed = self.storage.append(
            session_id,
            records,
            after=parent_id,
            system_prompt=system_prompt,
            embedding_model=self.embedding_model,
        )
        self._saved(placed.added, records[len(records) - len(placed.added) :])
        return placed

    def find_session(self, history: Sequence[Message]) -> str | None:
        """The session that begins with a question and an answer as this history does, for longest; None for none."""
        return self.storage.session_of_history([record_of("", one) for one in history])

    def set_head(self, session_id: str, message_id: int, *, to_newest: bool = False) -> bool:
        """Let the thread end with this message, whichever branch it is on; False when the session has none such.

        With `to_newest` it goes on to the newest end of the branches behind that message.
        """
        end = self.storage.newest_end(session_id, message_id) if to_newest else message_id
        return self.storage.set_head(session_id, end)

    def branch_session(
        self,
        session_id: str,
        message_id: int,
        new_id: str | None = None,
        metadata: SessionMetadata | Mapping[str, Any] | None = None,
    ) -> str:
        """A new session that begins as the way to this message does; its id, a new UUID unless one is given.

        Without `metadata` it has those of the other. Its `metadata.custom.branched_from` names session and message.
        Raises SessionExistsError for an id that is taken, and MessageNotFoundError.
        """
        source = self.storage.get_session(session_id)
        if source is None:
            raise MessageNotFoundError(f"There is no session {session_id!r:.80} that could have that message.")
        about = source.metadata if metadata is None else metadata_of(metadata)
        origin = {"session_id": session_id, "message_id": message_id}
        about = replace(about, custom={**about.custom, BRANCHED_FROM: origin})
        the_id = new_id or str(uuid.uuid4())
        ids = self.storage.branch_session(session_id, message_id, the_id, about)
        self._embed_copies(ids)
        return the_id

    def get_message(self, session_id: str, message_id: int) -> StoredMessage | None:
        """The message of that id, on whichever branch; None when the session has none such."""
        found = self.storage.messages_by_id([message_id]).get(message_id)
        return found if found is not None and found.session_id == session_id else None

    def update_session(
        self,
        session_id: str,
        *,
        system_prompt: str | None = None,
        metadata: SessionMetadata | Mapping[str, Any] | None = None,
    ) -> bool:
        """Change what is given; False when the session is unknown. No activity."""
        about = None if metadata is None else metadata_of(metadata)
        return self.storage.update_session(session_id, system_prompt=system_prompt, metadata=about)

    def _embed_copies(self, message_ids: Sequence[int]) -> None:
        """Some at a time: there may be very many."""
        model = self.embedding_model
        if model is None:
            return
        for start in range(0, len(message_ids), _PAGE):
            page = self.storage.messages_by_id(message_ids[start : start + _PAGE]).values()
            records = {one.id: record_of(one.session_id, one.message) for one in page}
            waiting = [id for id, record in records.items() if record.is_embeddable]
            noted = self.storage.await_vectors(waiting, model)
            self._saved(noted, [records[id] for id in noted])
