"""The log of one owner: conversations, their trees of messages, and the data of windows and vectors on them.

All methods block, and raise StorageUnavailable when the log cannot answer; its subclass StorageBusyError means that
other writers held the log for too long. Limits below 1 give nothing, offsets below 0 count as 0. Messages are ordered
by time, then by id.

The *way* through a message is a path in the tree: its ancestors before it, and after it the thread if the message is
on the thread, else the newest branch at each fork.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol, TypeVar

from mnemoir.core.branches import BranchRun, Stretch
from mnemoir.core.clock import Clock
from mnemoir.core.conversations import (
    Message,
    MessageRecord,
    Placed,
    SessionMetadata,
    SessionRecord,
    StoredMessage,
    Summary,
)

T = TypeVar("T")


class SessionRows(Protocol):
    """The sessions and their messages."""

    def create_session(
        self, session_id: str, system_prompt: str, metadata: SessionMetadata | None = None
    ) -> SessionRecord:
        """Create a session. Raises SessionExistsError when the id is taken."""

    def open_session(self, session_id: str, system_prompt: str = "", metadata: SessionMetadata | None = None) -> bool:
        """Create a session unless it exists. True when it was created."""

    def get_session(self, session_id: str) -> SessionRecord | None: ...

    def update_session(
        self, session_id: str, *, system_prompt: str | None = None, metadata: SessionMetadata | None = None
    ) -> bool:
        """Change the given values; False for an unknown session. Does not count as activity."""

    def update_session_activity(self, session_id: str) -> None:
        """Set the session's last activity to now; does nothing for an unknown session."""

    def list_sessions(self, limit: int = 10, offset: int = 0) -> list[SessionRecord]:
        """A page of sessions, newest activity first."""

    def delete_session(self, session_id: str) -> bool:
        """Delete a session with all its messages; False for an unknown session."""

    def old_sessions(self, days: int) -> list[str]:
        """The ids of sessions that `prune_old_sessions` would delete now, oldest activity first."""

    def prune_old_sessions(self, days: int) -> int:
        """Delete sessions last used more than `days` days ago and not marked to be kept; their number.

        Raises ValueError for days below 0.
        """

    def save_messages(
        self, messages: Sequence[MessageRecord], *, system_prompt: str = "", embedding_model: str | None = None
    ) -> list[int]:
        """Save messages atomically; their ids, in order. `system_prompt` is for sessions created by the call.

        Each message is placed after its parent and becomes the head; without a parent it is placed at the end of the
        thread, or on the thread by its time. With `embedding_model` the embeddable ones are marked as waiting for a
        vector of that model.
        """

    def load_messages(self, session_id: str, limit: int | None = None, offset: int = 0) -> list[Message]:
        """The thread, oldest first, from `offset` on; all of it without a limit."""

    def get_message_count(self, session_id: str) -> int:
        """The number of messages on the thread."""

    def beginnings(self, session_ids: Sequence[str], messages: int) -> dict[str, tuple[int, list[Message]]]:
        """The number of messages on each session's thread, and the first few of them, by the session's id."""

    def clear_messages(self, session_id: str) -> int:
        """Delete the messages of all branches but keep the session; the number of messages deleted."""

    def close(self) -> None:
        """Close the file. No other method may be called afterwards."""


class WindowRows(Protocol):
    """The data of windows: messages of the thread after the session's mark, pins, scores, and the summary."""

    def mark_context(self, session_id: str) -> int | None:
        """Let windows begin after the head, and delete the summary; the head's id, None without messages."""

    def newest_messages(self, session_id: str, limit: int, *, before: int | None = None) -> list[StoredMessage]:
        """At most `limit` messages after the mark and before the message `before`, newest first.

        Fewer than `limit` only at the end.
        """

    def messages_between(
        self, session_id: str, after: int | None, before: int | None, limit: int
    ) -> list[StoredMessage]:
        """At most `limit` messages after the mark, between `after` and `before` (None: no bound), oldest first.

        Fewer than `limit` only at the end.
        """

    def important_messages(self, session_id: str, threshold: float) -> list[StoredMessage]:
        """Messages after the mark that are pinned or have a score of `threshold` or more, oldest first."""

    def unscored_messages(self, session_id: str, limit: int) -> list[StoredMessage]:
        """At most `limit` messages after the mark without a score, by id."""

    def set_importance(self, scores: Mapping[int, float | None]) -> None:
        """Store scores by message id: 0 to 1, or None for no score. Unknown ids are ignored."""

    def set_pinned(self, message_id: int, pinned: bool) -> bool:
        """Pin or unpin a message; False for an unknown id."""

    def messages_by_id(self, message_ids: Sequence[int]) -> dict[int, StoredMessage]:
        """The messages with these ids; unknown ids are left out."""

    def thread_stretches(
        self, session_id: str, alone: Sequence[int], ends: Sequence[int], threshold: float
    ) -> list[Stretch]:
        """The whole thread in stretches, oldest first: each message of `alone` is one, each of `ends` ends one.

        Unknown ids are ignored. A message with a score of `threshold` or more is important.
        """

    def get_summary(self, session_id: str) -> Summary | None:
        """The session's summary; None without one."""

    def claim_summary(self, session_id: str, lease_s: float) -> str | None:
        """Claim the right to summarise for at most `lease_s` seconds; None while another caller has it."""

    def put_summary(self, session_id: str, claim: str, summary: Summary) -> bool:
        """Replace the summary and release the claim.

        False, with nothing stored, when the claim has expired, or when covered messages were deleted, excluded by the
        mark, or left the thread.
        """

    def release_summary(self, session_id: str, claim: str) -> None:
        """Release the claim without storing a summary."""


class TreeRows(Protocol):
    """The branches. The thread is the path from the first message to the head; other protocols read only the thread.

    Messages of a history are matched by role and text, without a model's thinking and white space at both ends.
    """

    def append_messages(
        self,
        session_id: str,
        messages: Sequence[MessageRecord],
        *,
        parent_id: int | None = None,
        system_prompt: str = "",
        embedding_model: str | None = None,
    ) -> list[int]:
        """Add messages in a row after a message (ROOT: at the beginning; None: after the head), atomically.

        The last of them becomes the head. An unknown session is created. Raises MessageNotFoundError for a parent
        that is no message of the session.
        """

    def put_answer(
        self,
        session_id: str,
        answer: MessageRecord,
        question_id: int,
        *,
        followers: Collection[int] = (),
        embedding_model: str | None = None,
    ) -> list[int]:
        """Add the answer to a message of any branch, atomically; its id, and those behind it with a new context.

        It becomes the head only where the question is the head. `followers`, messages that were put behind the
        question while its answer was under way, get the answer as their parent; it is on the thread where they are,
        and as old as its place there asks for. They are read within the transaction, and ids of messages that do not
        stand behind the question are ignored. A summary that reaches over that place is deleted. Raises
        MessageNotFoundError.
        """

    def append(
        self,
        session_id: str,
        history: Sequence[MessageRecord],
        *,
        after: int | None = None,
        system_prompt: str = "",
        embedding_model: str | None = None,
    ) -> Placed:
        """Align a client's history with the tree: add its new messages; its last message becomes the head.

        A history with the same first messages as the tree is matched from the beginning, along the branch with the
        longest match; its first different message begins a branch. If all messages match, none are added: an answered
        question becomes the head again, and its next answer a sibling. A history from the middle of the thread, sent
        by clients that cut theirs (a greeting in front may remain), is matched from there: at the longest match, of
        several at the last. One without any match is a branch from ROOT. System messages are ignored. Answers that
        were put in front of older messages may come later in a history from the thread's beginning, or be missing.

        A history without an answer is placed after the head, without messages that the thread already ends with,
        unless it begins like the thread. A single question equal to the thread's first is asked again if the thread
        has other questions.

        With `after` the history is not matched against the tree, but placed directly after this message (ROOT: at the
        beginning), where equal messages are reused. With HEAD all messages are new and placed after the head, unless
        the thread ends with exactly these messages. Raises MessageNotFoundError.
        """

    def uids_of(self, message_ids: Sequence[int]) -> dict[int, str]:
        """The uids of these messages by id; unknown ids are left out."""

    def places_of(self, uids: Sequence[str]) -> dict[str, tuple[str, int]]:
        """Session and id of the messages with these uids; unknown uids are left out."""

    def session_of_history(self, history: Sequence[MessageRecord]) -> str | None:
        """The session with the longest match of this history's beginning, at least question and answer, or None."""

    def set_head(self, session_id: str, message_id: int) -> bool:
        """Let the thread end with this message of any branch; False when the session has no such message.

        A summary of messages that leave the thread is deleted. A mark on a message that leaves it moves to the last
        earlier message that stays.
        """

    def delete_messages(self, session_id: str, message_ids: Sequence[int]) -> int:
        """Delete messages beside the thread that have nothing behind them but others of these; how many.

        All others stay.
        """

    def branch_session(self, session_id: str, message_id: int, new_id: str, metadata: SessionMetadata) -> list[int]:
        """Create a session with copies of a message and its ancestors, and the same system prompt; the copies' ids.

        Copies differ only in their ids, and have no vectors yet. Raises SessionExistsError for an id that is taken,
        and MessageNotFoundError.
        """

    def thread_messages(self, session_id: str, limit: int, *, before: int | None = None) -> list[StoredMessage]:
        """At most `limit` messages of the thread before `before` ([] if it was deleted), newest first, at any mark.

        Fewer than `limit` only at the end.
        """

    def message_tree(self, session_id: str, limit: int, *, after: int = 0) -> list[StoredMessage]:
        """Messages of all branches with ids above `after`, by id; [] only at the end."""

    def damaged_messages(self, session_id: str) -> int:
        """The number of messages of all branches that cannot be read, wholly or in part: role, calls or files."""

    def messages_with_files(
        self, limit: int, *, before: int | None = None, session_id: str | None = None
    ) -> list[StoredMessage]:
        """Messages with files on all branches, with ids below `before`, newest first; [] only at the end.

        They are of one session, or without a `session_id` of all sessions.
        """

    def sessions_page(self, limit: int, *, before: tuple[datetime, str] | None = None) -> list[SessionRecord]:
        """At most `limit` sessions after the one with the activity and id `before`, newest activity first."""

    def children(self, session_id: str, message_ids: Sequence[int]) -> dict[int, list[int]]:
        """The ids of the children of each message, or of ROOT, on all branches, ordered by id."""

    def newest_end(self, session_id: str, message_id: int) -> int:
        """The newest leaf among the message's descendants; the message itself without children."""

    def way_to(self, session_id: str, message_id: int, limit: int) -> list[StoredMessage]:
        """A message of any branch and its ancestors, newest first; [] for an unknown message."""

    def way_before(self, session_id: str, message_id: int, limit: int) -> list[StoredMessage]:
        """The ancestors of a message, newest first.

        Fewer than `limit` only at the beginning of the conversation.
        """

    def way_behind(self, session_id: str, message_id: int, limit: int) -> list[StoredMessage]:
        """The messages after a message on the way through it, oldest first; for ROOT the thread from its beginning.

        They follow the thread up to the head if possible, else the newest branch. Fewer than `limit` only at the end.
        """

    def place_on_thread(self, session_id: str, message_id: int) -> int | None:
        """The index of a message on the thread; None if it is not on the thread."""

    def branch_runs(self, session_id: str) -> list[BranchRun]:
        """All branch runs, by the id of their first message; one for a tree without branches."""


class VectorRows(Protocol):
    """The states of messages' vectors: waiting, embedded, failed, or to be removed.

    The state is stored before the vector is added, and the deletion of a message sets it to "to be removed" in the
    same transaction. So after a crash between the two stores the vector of a deleted message is always known.
    """

    def unembedded_messages(
        self, model: str, limit: int, *, after: int = 0, session_id: str | None = None
    ) -> list[StoredMessage]:
        """Embeddable messages with ids above `after` without a vector of that model, by id."""

    def in_context(
        self, message_ids: Sequence[int], count: int
    ) -> list[tuple[StoredMessage, Sequence[StoredMessage]]]:
        """The existing messages, each with up to `count` messages before it on the thread, oldest first."""

    def await_vectors(self, message_ids: Sequence[int], model: str) -> list[int]:
        """Mark messages as waiting, before their vectors are added; the ids of those that exist."""

    def note_new_vectors(self, message_ids: Sequence[int], model: str) -> list[int]:
        """Mark messages as embedded; returns the ids of all deleted messages with vectors to be removed."""

    def note_failed_vectors(self, message_ids: Sequence[int]) -> None:
        """Count a failed attempt for each message; they wait again."""

    def vectors_to_remove(self, limit: int) -> list[int]:
        """The ids of deleted messages with a vector that may still exist, by id."""

    def note_removed_vectors(self, message_ids: Sequence[int]) -> None:
        """Record that the vectors of these messages were removed from the vector store."""

    def vector_counts(self) -> Mapping[str, int]:
        """The number of messages by status: pending, embedded, failed, removed."""


class RecalledRows(Protocol):
    """What was recalled for the questions of sessions: references as JSON (`ports.recalled`), a column of a message.

    They go where their message goes, are copied with it, and are in no export.
    """

    def questions(self, session_id: str, message_ids: Sequence[int]) -> dict[int, tuple[str, str | None]]:
        """The uid and the references of the session's messages that have any, and of these messages, by id.

        The references are None for a message that nothing was recalled for. Unknown ids are left out.
        """

    def latest_references(self, limit: int) -> list[str]:
        """The references of the newest questions of all sessions that have any, the newest first."""

    def put_recalled(self, references: Mapping[str, str]) -> None:
        """Replace the references of messages, by uid, atomically; unknown uids are ignored."""

    def messages_with_uids(self, uids: Sequence[str]) -> dict[str, StoredMessage]:
        """The messages with these uids, of all sessions; unknown uids are left out."""


class Log(SessionRows, WindowRows, TreeRows, VectorRows, RecalledRows, Protocol):
    """The whole log."""

    def with_clock(self, clock: Clock) -> "Log":
        """The log opened again with another clock for its writes; each write is durable. It must be closed."""

    def together(self, work: Callable[["Log"], T]) -> T:
        """Run `work` in one transaction and return its result. `work` may be run more than once."""


SessionStorage = Log  # its name in `mnemoir.conversations`
