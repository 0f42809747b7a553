"""Turns of chat applications: rows with a question and its whole answer, and their attachments.

Rows form a tree by their parent ids. A row is written when its turn begins, with an empty answer, and again when the
turn is finished.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn. Rows are ordered by `(created_at, seq)`; `seq` orders rows with the same time.

    `parent_message_id` is None or "" for the first turn of a thread, and an id of all zeros for "the next older
    turn". `answer_tokens` is 0 until the turn is finished. `has_tool_calls` is True when the turn called tools.
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
    """A file of a turn. `belongs_to` is "user", "assistant", or None in rows older than the column, which means user.

    `type` and `transfer_method` are values of `FileType` and `FileTransferMethod` of `mnemoir.conversations`. For a
    file made by a tool, `upload_file_id` is the id of that file.
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
    """The turns of one tenant. All methods raise StorageUnavailable when rows cannot be read."""

    def newest_first(self, conversation_id: str, *, limit: int, before: Turn | None = None) -> Sequence[Turn]:
        """`limit` turns older than `before`, newest first; fewer only at the end. [] for an unknown conversation."""

    def attachments(self, turn_ids: Sequence[str]) -> Mapping[str, Sequence[Attachment]]:
        """The attachments by turn, in the order of attaching; turns without attachments may be left out."""

    def run_features(self, workflow_run_id: str) -> Mapping[str, Any] | None:
        """The features of a run's workflow, as JSON; None when the run or the workflow no longer exists."""
