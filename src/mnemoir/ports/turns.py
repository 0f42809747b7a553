"""Turns of chat applications: one row for a question and everything that was answered to it, and its attachments.

Rows form a tree by their parent pointers. A row is written when its turn begins, with an empty answer, and again when
it is finished.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn. Rows are ordered by `(created_at, seq)`; `seq` tells which of two rows of one instant came later.

    `parent_message_id` is None or "" for the first turn of a thread, and the sentinel of all zeros for "the next
    older turn". `answer_tokens` is 0 until the turn is finished. `has_tool_calls` tells that tools were called in it.
    """

    id: str
    conversation_id: str
    parent_message_id: str | None
    query: str
    answer: str = ""
    answer_tokens: int = 0
    workflow_run_id: str | None = None
    created_at: datetime
    seq: int = 0
    has_tool_calls: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file of a turn. `belongs_to` is "user", "assistant", or None for rows older than the column: the user's.

    `type` and `transfer_method` hold the words of `FileType` and `FileTransferMethod` of `mnemoir.conversations`. For
    a file that a tool made, `upload_file_id` is that file's id.
    """

    id: str
    message_id: str
    type: str
    transfer_method: str
    url: str | None = None
    upload_file_id: str | None = None
    belongs_to: str | None = None
    created_by_role: str = ""
    created_by: str = ""


class TurnRows(Protocol):
    """The turns of one tenant. Whatever cannot be read raises StorageUnavailable."""

    def newest_first(self, conversation_id: str, *, limit: int, before: Turn | None = None) -> Sequence[Turn]:
        """At most `limit` turns, newest first, older than `before`; fewer only at the end. [] for an unknown id."""

    def attachments(self, turn_ids: Sequence[str]) -> Mapping[str, Sequence[Attachment]]:
        """The attachments by turn, each list in the order they were attached; turns without any may be left out."""

    def run_features(self, workflow_run_id: str) -> Mapping[str, Any] | None:
        """The features of the workflow that a run belongs to, JSON; None when run or workflow are gone."""
