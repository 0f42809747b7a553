"""Matching of a client's history with stored messages: of its session, or of the session that begins like it.

A history is followed from the beginning, along the branch that matches it for longest; among equals the thread comes
first, then the newest branch. A history that begins elsewhere, from a client that truncates it, is searched on the
thread: at the longest match, of equals the latest; so is one of which only the greeting matches the beginning. This
requires an answer in it: a few questions alone are no evidence.

A message that was put in front of an older one later, as a late answer is, may be missing in a history.

A history without an answer counts as new and is appended after the head, without messages that are there already: two
equal concurrent requests leave one message. Only a single question that is the thread's own is answered again.

Each method reads within one transaction, over linked rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from mnemoir.conversations.history_digest import PASSED_OVER
from mnemoir.core.conversations import ROOT
from mnemoir.storage.sql.conversations.store import Row, text_of
from mnemoir.storage.sql.engine import Sql, Value, queries

_TREE = queries("sessions/tree")
_SESSIONS = queries("sessions/sessions")
_MOST_BEGINNINGS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryItem:
    """One message of a client's history, by its role and the digest of its content."""

    role: str
    digest: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The match of a history: `ids` of its first messages that are stored; the rest follows message `behind`."""

    ids: list[int]
    behind: int


class StoredTree:
    """The messages of a session, for matching histories."""

    def __init__(self, sql: Sql, session_id: str, head_id: int) -> None:
        self._sql = sql
        self._session = session_id
        self._head_id = head_id

    def find(self, history: Sequence[HistoryItem]) -> Found:
        """The match of the history."""
        digests = [one.digest for one in history]
        ids = self._from_the_beginning(digests)
        if not any(one.role == "assistant" for one in history):
            is_weak = not ids or (len(ids) == 1 and self._has_question_besides(ids[0]))
            return self._at_the_head(digests) if is_weak else Found(ids=ids, behind=ids[-1])
        rest = history[len(ids) :]
        is_greeting = all(one.role == "assistant" for one in history[: len(ids)])
        if is_greeting and any(one.role == "assistant" for one in rest):
            ids = [*ids, *self._on_the_thread(digests[len(ids) :], ids[-1] if ids else ROOT)]
        return Found(ids=ids, behind=ids[-1] if ids else ROOT)

    def find_behind(self, parent_id: int, history: Sequence[HistoryItem]) -> Found:
        """The match right after a message, or at the beginning, even if another place matches for longer."""
        ids = self._longest_path({parent_id: []}, [one.digest for one in history])
        return Found(ids=ids, behind=ids[-1] if ids else parent_id)

    def find_at_the_end(self, history: Sequence[HistoryItem]) -> Found:
        """The match after the head, or at the end of the thread if that contains all of the history already."""
        ending = self._rows("ending", limit=len(history))[::-1]
        if [digest for _, digest in ending] != [one.digest for one in history]:
            ending = []
        return Found(ids=[row[0] for row in ending], behind=self._head_id)

    def _from_the_beginning(self, digests: Sequence[bytes]) -> list[int]:
        """The ids of the longest path from the beginning with the same digests."""
        thread = self._rows("beginning", limit=len(digests) + 1)
        ids = []
        for (message_id, digest), wanted in zip(thread, digests, strict=False):
            if digest != wanted:
                break
            ids.append(message_id)
        if len(ids) == len(digests):
            return ids
        starts = self._branches(ids, digests)
        ids = self._longest_path(starts, digests) if starts else ids
        has_late_ones = any(older > newer for (older, _), (newer, _) in pairwise(thread))
        past = self._past_late_answers(digests) if has_late_ones else []
        return past if len(past) > len(ids) else ids

    def _past_late_answers(self, digests: Sequence[bytes]) -> list[int]:
        """The ids from the beginning of the thread for a client that has no answers which were put in between."""
        thread = self._rows("beginning", limit=2 * len(digests) + 1)
        ids, at = list[int](), 0
        for wanted in digests:
            while at + 1 < len(thread) and thread[at][1] != wanted and thread[at + 1][0] < thread[at][0]:
                at += 1
            if at == len(thread) or thread[at][1] != wanted:
                break
            ids.append(thread[at][0])
            at += 1
        return ids

    def _branches(self, ids: Sequence[int], digests: Sequence[bytes]) -> dict[int, list[int]]:
        """Paths off the thread, one message longer than `ids` on it, by the id of their last message."""
        candidates = self._rows("left_saying", digest=digests[len(ids)])
        ways = ((one, self._way_up(parent, ids, digests)) for one, parent in candidates)
        return {one: [*way, one] for one, way in ways if way is not None}

    def _way_up(self, message_id: int, ids: Sequence[int], digests: Sequence[bytes]) -> list[int] | None:
        """The path to a message, if it has the first digests; its part on the thread is that of `ids`."""
        level, way = len(ids) - 1, list[int]()
        seen: set[int] = set()
        while message_id != (ids[level] if level >= 0 else ROOT):
            row = self._sql.row(_TREE["step_up"], session=self._session, id=message_id)
            if row is None or message_id in seen:
                return None
            seen.add(message_id)
            parent, digest = row
            if digest != PASSED_OVER:
                if level < 0 or digest != digests[level]:
                    return None
                way.append(message_id)
                level -= 1
            message_id = parent
        return [*ids[: level + 1], *reversed(way)]

    def _longest_path(self, starts: Mapping[int, list[int]], digests: Sequence[bytes]) -> list[int]:
        """The longest path that continues one of the starts, all of one length; of several that to the newest."""
        came_from: dict[int, int] = {}
        reached = list(starts)
        for digest in digests[len(starts[reached[0]]) :]:
            pairs = [(child, one) for one in reached for child in self._next(one, digest)]
            if not pairs:
                break
            came_from.update(pairs)
            reached = [child for child, _ in pairs]
        last, way = max(reached), []
        while last not in starts:
            way.append(last)
            last = came_from[last]
        return [*starts[last], *reversed(way)]

    def _next(self, message_id: int, digest: bytes) -> list[int]:
        """The messages with a digest right after a message; system messages between them are skipped."""
        passed, found = [message_id], list[int]()
        for one in passed:
            found += [row[0] for row in self._rows("children_saying", id=one, digest=digest)]
            notes = [row[0] for row in self._rows("children_saying", id=one, digest=PASSED_OVER)]
            passed += [note for note in notes if note not in passed]
        return found

    def _on_the_thread(self, digests: Sequence[bytes], after: int) -> list[int]:
        """The ids of the first messages where the thread has them after a message of it, or anywhere for ROOT.

        A branch that continues the match is followed.
        """
        thread = self._rows("from_first", digest=digests[0], after=after)
        if not thread:
            return []
        lengths = _matching_lengths(digests, [digest for _, digest in thread])
        at = max(range(len(thread)), key=lambda at: (lengths[at], at))
        ids = [message_id for message_id, _ in thread[at : at + lengths[at]]]
        return self._longest_path({ids[-1]: ids}, digests)

    def _at_the_head(self, digests: Sequence[bytes]) -> Found:
        """The match after the head, without messages that are there already."""
        ending = self._rows("ending", limit=len(digests))[::-1]
        said = [digest for _, digest in ending]
        length = next(size for size in range(len(said), -1, -1) if said[len(said) - size :] == digests[:size])
        ids = [message_id for message_id, _ in ending[len(ending) - length :]]
        return Found(ids=ids, behind=self._head_id)

    def _has_question_besides(self, message_id: int) -> bool:
        return bool(self._sql.value(_TREE["other_question"], session=self._session, id=message_id))

    def _rows(self, query: str, **values: Value) -> list[Row]:
        return self._sql.rows(_TREE[query], session=self._session, **values)


def _matching_lengths(wanted: Sequence[bytes], said: Sequence[bytes]) -> list[int]:
    """The length of the prefix of `wanted` at each place of `said`, in linear time (the Z algorithm)."""
    text = [*wanted, PASSED_OVER, *said]  # equal to nothing, so that no length exceeds that of `wanted`
    lengths = [0] * len(text)
    start = end = 0
    for at in range(1, len(text)):
        length = min(lengths[at - start], end - at) if at < end else 0
        while at + length < len(text) and text[length] == text[at + length]:
            length += 1
        lengths[at] = length
        if at + length > end:
            start, end = at, at + length
    return lengths[len(wanted) + 1 :]


def session_that_begins(sql: Sql, history: Sequence[HistoryItem]) -> str | None:
    """The session with the branch that matches for longest, at least for a question and an answer; None without one.

    Of several the one used last; of more than 1,000 branches with equal beginnings the newest are compared. Rows must
    be linked.
    """
    least = _first_exchange(history)
    if least is None:
        return None
    roots: list[Row] = sql.rows(_TREE["roots_saying"], digest=history[0].digest, limit=_MOST_BEGINNINGS)
    reached: dict[int, str] = dict(roots)
    for level, told in enumerate(history[1:], start=1):
        if level >= least and len(set(reached.values())) == 1:
            break
        further = {
            child: session_id
            for message_id, session_id in reached.items()
            for child in _children(sql, session_id, message_id, told.digest)
        }
        if not further:
            if level < least:
                return None
            break
        reached = further
    return _used_last(sql, set(reached.values()))


def _first_exchange(history: Sequence[HistoryItem]) -> int | None:
    """The number of messages up to the history's first answer to a question; None without one."""
    asked = False
    for place, told in enumerate(history):
        if asked and told.role == "assistant":
            return place + 1
        asked = asked or told.role == "user"
    return None


def _children(sql: Sql, session_id: str, message_id: int, digest: bytes) -> list[int]:
    return [row[0] for row in sql.each(_TREE["children_saying"], session=session_id, id=message_id, digest=digest)]


def _used_last(sql: Sql, sessions: set[str]) -> str | None:
    if len(sessions) <= 1:
        return next(iter(sessions), None)
    used_at = {one: text_of(sql.value(_SESSIONS["used_at"], session=one)) for one in sessions}
    return max(sessions, key=lambda one: (used_at[one] or "", one))
