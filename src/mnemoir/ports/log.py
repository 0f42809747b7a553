"""The log of one owner: conversations, their trees of messages, and what windows and vectors note of them.

All methods block, and raise StorageUnavailable when the log cannot answer. StorageBusyError, one of those, means that
others held it for too long. Limits below 1 ask for nothing, offsets below 0 count as 0. Messages stand in the order
of their time, then of their ids.

A way goes through one message: in front of it stands what leads to it, behind it the thread as far as it is on that,
and else the newest branch at each place.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Protocol, TypeVar

from mnemoir.core.branches import BranchRun, Stretch
from mnemoir.core.clock import Clock
from mnemoir.core.conversation_messages import Message
from mnemoir.core.conversations import (
    MessageRecord,
    Placed,
    SessionMetadata,
    SessionRecord,
    StoredMessage,
    Summary,
)

T = TypeVar("T")


class SessionRows(Protocol):
    """Sessions and their messages."""

    def create_session(
        self, session_id: str, system_prompt: str, metadata: SessionMetadata | None = None
    ) -> SessionRecord:
        """Raises SessionExistsError when the id is taken."""

    def open_session(self, session_id: str, system_prompt: str = "", metadata: SessionMetadata | None = None) -> bool:
        """Create it unless it is there; whether it was created."""

    def get_session(self, session_id: str) -> SessionRecord | None: ...

    def update_session(
        self, session_id: str, *, system_prompt: str | None = None, metadata: SessionMetadata | None = None
    ) -> bool:
        """Change what is given; False when the session is unknown. No activity."""

    def update_session_activity(self, session_id: str) -> None:
        """Say that it is in use now; nothing for an unknown one."""

    def list_sessions(self, limit: int = 10, offset: int = 0) -> list[SessionRecord]:
        """Newest activity first."""

    def delete_session(self, session_id: str) -> bool:
        """With all of its messages; False when it is unknown."""

    def old_sessions(self, days: int) -> list[str]:
        """The ids that `prune_old_sessions` would delete now, oldest activity first."""

    def prune_old_sessions(self, days: int) -> int:
        """Delete what was last used more than so many days ago and is not kept; how many. ValueError below 0."""

    def save_messages(
        self, messages: Sequence[MessageRecord], *, system_prompt: str = "", embedding_model: str | None = None
    ) -> list[int]:
        """The ids, in order; all or none are saved. `system_prompt` is for a session that is created by it.

        Each stands behind its parent and is the head then; without a parent at the end of the thread, or where its
        time belongs there. With `embedding_model` the embeddable ones are noted as waiting for a vector of that
        model.
        """

    def load_messages(self, session_id: str, limit: int | None = None, offset: int = 0) -> list[Message]:
        """The thread, oldest first, from `offset` on; all of it without a limit."""

    def get_message_count(self, session_id: str) -> int:
        """How many messages the thread has."""

    def beginnings(self, session_ids: Sequence[str], messages: int) -> dict[str, tuple[int, list[Message]]]:
        """How many messages the thread of each session has, and the first few of them, by the id of the session."""

    def clear_messages(self, session_id: str) -> int:
        """Delete the messages of all branches and keep the session; how many."""

    def close(self) -> None:
        """Let go of the file; nothing is read or written afterwards."""


class WindowRows(Protocol):
    """What windows are made of: messages of the thread behind the session's mark, pins, scores, and its summary."""

    def mark_context(self, session_id: str) -> int | None:
        """Let windows begin after the head, and drop the summary; the message's id, None for none."""

    def newest_messages(self, session_id: str, limit: int, *, before: int | None = None) -> list[StoredMessage]:
        """Newest first, in front of the message `before`, behind the mark.

        Fewer than `limit` at the end alone.
        """

    def messages_between(
        self, session_id: str, after: int | None, before: int | None, limit: int
    ) -> list[StoredMessage]:
        """Oldest first, behind the message `after` and in front of `before`, behind the mark; None is no border.

        Fewer than `limit` at the end alone.
        """

    def important_messages(self, session_id: str, threshold: float) -> list[StoredMessage]:
        """Those pinned, or scored `threshold` or more; oldest first, behind the mark."""

    def unscored_messages(self, session_id: str, limit: int) -> list[StoredMessage]:
        """Those without a score, behind the mark, by id."""

    def set_importance(self, scores: Mapping[int, float | None]) -> None:
        """Store a score, 0 to 1 or None for none, by message id; unknown ids are passed over."""

    def set_pinned(self, message_id: int, pinned: bool) -> bool:
        """False when there is no such message."""

    def messages_by_id(self, message_ids: Sequence[int]) -> dict[int, StoredMessage]:
        """Those that are there."""

    def thread_stretches(
        self, session_id: str, alone: Sequence[int], ends: Sequence[int], threshold: float
    ) -> list[Stretch]:
        """The whole thread, oldest first. Each message of `alone` is a stretch by itself, each of `ends` ends one.

        Unknown ids cut nothing. A message with a score of `threshold` or more is important.
        """

    def get_summary(self, session_id: str) -> Summary | None:
        """The session's summary."""

    def claim_summary(self, session_id: str, lease_s: float) -> str | None:
        """The right to summarise, for so many seconds at most; None while another has it."""

    def put_summary(self, session_id: str, claim: str, summary: Summary) -> bool:
        """Store it in place of the last one and give up the claim.

        False, and nothing stored, when the claim has run out, or when what it covers was deleted, marked off, or
        left the thread.
        """

    def release_summary(self, session_id: str, claim: str) -> None:
        """Give up the claim without a summary."""


class TreeRows(Protocol):
    """Branches. The thread is the way from the first message to the head; what is read elsewhere is the thread alone.

    Messages are found again by what they say: role and text, without a model's thinking and blanks at the edges.
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
        """Put them behind a message (ROOT: at the beginning; None: behind the head), one behind the other.

        The last of them is the head afterwards. An unknown session is created. All or none are saved. Raises
        MessageNotFoundError for a parent that is no message of the session.
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
        """Lay the history that a client holds over the tree: add what is new; its end becomes the head.

        A history that begins as stored messages do is followed from the first message on, along the branch that goes
        with it for longest; the first message that is another one begins a branch. When all of it is there nothing is
        added: a question that was answered is then the head again, and its next answer a sibling. One that begins in
        the middle of the thread, as clients send it that cut theirs (the greeting in front may be left), is followed
        from there: where it fits for longest, and of such places at the latest. One that begins nowhere is a branch
        from ROOT. System messages are passed over.

        One without an answer goes behind the head, less what stands there already, unless it begins as the thread
        does. A lone question with which the thread begins is asked anew where the thread has other questions.

        With `after` none of that is looked for: it stands right behind this message, ROOT being the beginning, where
        what says the same may be there already. With HEAD all of it is new and goes behind the head, unless the
        thread ends with these very messages. Raises MessageNotFoundError.
        """

    def uids_of(self, message_ids: Sequence[int]) -> dict[int, str]:
        """The uids of these messages, as far as they are there."""

    def places_of(self, uids: Sequence[str]) -> dict[str, tuple[str, int]]:
        """Session and id of the messages that have these uids."""

    def session_of_history(self, history: Sequence[MessageRecord]) -> str | None:
        """The session that begins with a question and an answer as this history does, for longest; None for none."""

    def set_head(self, session_id: str, message_id: int) -> bool:
        """Let the thread end with this message, whichever branch it is on; False when the session has none such.

        A summary of what leaves the thread is dropped. A mark that leaves it counts as the last message before it
        that stays.
        """

    def branch_session(self, session_id: str, message_id: int, new_id: str, metadata: SessionMetadata) -> list[int]:
        """A new session with a copy of the way to a message, and the same system prompt; the ids of the copies.

        Copies keep all but their ids; none has a vector yet. Raises SessionExistsError for an id that is taken, and
        MessageNotFoundError.
        """

    def thread_messages(self, session_id: str, limit: int, *, before: int | None = None) -> list[StoredMessage]:
        """Newest first, in front of the message `before` (none when that is gone), without regard to any mark.

        Fewer than `limit` at the end alone.
        """

    def message_tree(self, session_id: str, limit: int, *, after: int = 0) -> list[StoredMessage]:
        """The messages of all branches with an id above `after`, by id; [] at the end alone."""

    def messages_with_files(
        self, limit: int, *, before: int | None = None, session_id: str | None = None
    ) -> list[StoredMessage]:
        """Those of all branches that carry files, newest first, with an id below `before`; [] at the end alone.

        Of one session, or without a `session_id` of all.
        """

    def sessions_page(self, limit: int, *, before: tuple[datetime, str] | None = None) -> list[SessionRecord]:
        """Newest activity first, behind the one of that activity and id."""

    def children(self, session_id: str, message_ids: Sequence[int]) -> dict[int, list[int]]:
        """The ids of what stands right behind each of these messages, or behind ROOT; on all branches, by id."""

    def newest_end(self, session_id: str, message_id: int) -> int:
        """The newest of the messages that branches with this one end with; itself where nothing stands behind it."""

    def way_to(self, session_id: str, message_id: int, limit: int) -> list[StoredMessage]:
        """A message and what stands before it on its branch, thread or not, newest first; [] for an unknown one."""

    def way_before(self, session_id: str, message_id: int, limit: int) -> list[StoredMessage]:
        """What stands before a message on its branch, newest first.

        Fewer than `limit` at the beginning alone.
        """

    def way_behind(self, session_id: str, message_id: int, limit: int) -> list[StoredMessage]:
        """How the way through a message goes on behind it, oldest first; for ROOT the thread from its beginning.

        It follows the thread up to the head where it can, else the newest branch. Fewer than `limit`
        at the end alone.
        """

    def place_on_thread(self, session_id: str, message_id: int) -> int | None:
        """How many messages of the thread stand in front of that one; None for one that is not on it."""

    def branch_runs(self, session_id: str) -> list[BranchRun]:
        """All of them, by the id of their first message; one for a tree without branches."""


class VectorRows(Protocol):
    """Which messages have a vector, wait for one, or have left one behind.

    A message is noted before its vector is added, and a deletion leaves the note of it as "to be removed" in its own
    transaction. So a crash between the two stores never leaves the vector of a deleted message unknown.
    """

    def unembedded_messages(
        self, model: str, limit: int, *, after: int = 0, session_id: str | None = None
    ) -> list[StoredMessage]:
        """Embeddable messages with an id over `after` that have no vector of that model, by id."""

    def in_context(
        self, message_ids: Sequence[int], count: int
    ) -> list[tuple[StoredMessage, Sequence[StoredMessage]]]:
        """Those that are there, each with up to `count` messages in front of it on the thread, oldest first."""

    def await_vectors(self, message_ids: Sequence[int], model: str) -> list[int]:
        """Note them as waiting; those of them that are there. Do this before their vectors are added."""

    def vectors_added(self, message_ids: Sequence[int], model: str) -> list[int]:
        """Note them as embedded; ids of deleted messages, of these and others, whose vectors are to be removed."""

    def vectors_failed(self, message_ids: Sequence[int]) -> None:
        """Count a failed attempt; they wait again."""

    def vectors_to_remove(self, limit: int) -> list[int]:
        """Ids of deleted messages that may have left a vector behind, by id."""

    def vectors_removed(self, message_ids: Sequence[int]) -> None:
        """Their vectors are gone from the vector store."""

    def vector_counts(self) -> Mapping[str, int]:
        """How many notes there are by status: pending, embedded, failed, removed."""


class Log(SessionRows, WindowRows, TreeRows, VectorRows, Protocol):
    """All of it."""

    def with_clock(self, clock: Clock) -> "Log":
        """The log opened once more, to write as of other times; each write is durable. Close it in the end."""

    def together(self, work: Callable[["Log"], T]) -> T:
        """What `work` gives with all that it reads and writes in one transaction. It may run again."""


SessionStorage = Log  # its name in `mnemoir.conversations`
