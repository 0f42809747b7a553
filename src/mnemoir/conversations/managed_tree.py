"""The branch methods of `MemoryManager`: appending, resuming, moving the head, copying. All methods block."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from typing import Any

from mnemoir.conversations.log.message_rows import record_of
from mnemoir.conversations.managed_search import ManagedSearch
from mnemoir.core.conversations import (
    Message,
    MessageNotFoundError,
    Placed,
    SessionMetadata,
    StoredMessage,
    checked_session_id,
    metadata_of,
)

BRANCHED_FROM = "branched_from"  # in `metadata.custom`: the source session and message of a copy
_PAGE = 500


class ManagedTree(ManagedSearch):
    """The tree of a session: its thread is the path from its first message to its head; other branches fork off."""

    def append_messages(
        self,
        session_id: str,
        messages: Sequence[Message],
        *,
        parent_id: int | None = None,
        system_prompt: str = "",
        run_id: str | None = None,
        finish_reason: str | None = None,
        uids: Sequence[str] | None = None,
    ) -> list[int]:
        """Append messages to a message on any branch; return their ids. The last of them becomes the head.

        `parent_id` ROOT is the beginning, None the head. An unknown session is created. `uids` name the messages in
        all files; without them they get new ones. Raises MessageNotFoundError for a parent that the session does not
        have.
        """
        checked_session_id(session_id)
        named = zip(messages, uids if uids is not None else repeat(None, len(messages)), strict=True)
        records = [
            record_of(session_id, one, run_id=run_id, finish_reason=finish_reason, uid=uid) for one, uid in named
        ]
        ids = self.storage.append_messages(
            session_id,
            records,
            parent_id=parent_id,
            system_prompt=system_prompt,
            embedding_model=self.embedding_model,
        )
        self._embed_new_messages(ids, records)
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
        """Match the history of a client with the session: add its new messages; its end becomes the head.

        System messages are skipped and have no id in the result. `TreeRows.append` describes how the others are
        matched; with `parent_id` they directly follow this message. Raises MessageNotFoundError.
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
        self._embed_new_messages(placed.added, records[len(records) - len(placed.added) :])
        return placed

    def find_session(self, history: Sequence[Message]) -> str | None:
        """The session sharing the longest beginning with `history`, at least a question and an answer, or None."""
        return self.storage.session_of_history([record_of("", one) for one in history])

    def set_head(self, session_id: str, message_id: int, *, to_newest: bool = False) -> bool:
        """Make this message, on any branch, the end of the thread; False when the session does not have it.

        With `to_newest` the thread continues to the newest end of the branches after that message.
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
        """Create a session with copies of the messages up to this one; return its id, a new UUID unless one is given.

        Without `metadata` it has those of the source. Its `metadata.custom.branched_from` names session and message.
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
        """The message with that id, on any branch; None when the session does not have it."""
        found = self.storage.messages_by_id([message_id]).get(message_id)
        return found if found is not None and found.session_id == session_id else None

    def update_session(
        self,
        session_id: str,
        *,
        system_prompt: str | None = None,
        metadata: SessionMetadata | Mapping[str, Any] | None = None,
    ) -> bool:
        """Change the given values; False when the session is unknown. Does not count as activity."""
        about = None if metadata is None else metadata_of(metadata)
        return self.storage.update_session(session_id, system_prompt=system_prompt, metadata=about)

    def _embed_copies(self, message_ids: Sequence[int]) -> None:
        """Have copied messages embedded in batches, since there may be very many."""
        model = self.embedding_model
        if model is None:
            return
        for start in range(0, len(message_ids), _PAGE):
            page = self.storage.messages_by_id(message_ids[start : start + _PAGE]).values()
            records = {one.id: record_of(one.session_id, one.message) for one in page}
            waiting = [id for id, record in records.items() if record.is_embeddable]
            noted = self.storage.await_vectors(waiting, model)
            self._embed_new_messages(noted, [records[id] for id in noted])
