"""The data of windows: messages of the thread after a session's mark, pins and scores, and its summary."""

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from mnemoir.core.branches import Stretch
from mnemoir.core.conversations import StoredMessage, Summary
from mnemoir.core.errors import InvalidRequest
from mnemoir.storage.sql.conversations.store import (
    Row,
    Store,
    clamped_number,
    storable,
    stored_messages,
    summary_of,
    time_text,
)
from mnemoir.storage.sql.engine import Sql, Value, queries

_SESSIONS = queries("sessions/sessions")
_MESSAGES = queries("sessions/messages")
_WAYS = queries("sessions/ways")
_OUTSIDE = (0, 0.0)  # a border in front of all messages, or behind them


class WindowTables(Store):
    """One of five parts of `SqlLog`; see `ports.log.WindowRows`."""

    def mark_context(self, session_id: str) -> int | None:
        """Make windows begin after the head, and drop the summary; the head's id, None for an empty thread."""

        def mark_newest(sql: Sql) -> int | None:
            session = storable(session_id)
            sql.run(_SESSIONS["drop_summary"], session=session)
            rows = sql.rows(_MESSAGES["mark_newest"], session=session)
            return rows[0][0] if rows else None

        return self._file.write(mark_newest)

    def newest_messages(self, session_id: str, limit: int, *, before: int | None = None) -> list[StoredMessage]:
        """Messages after the mark, newest first, before message `before` (none if that is deleted)."""
        return whole_page(
            limit, before, lambda at, most: self._behind_mark("newest", session_id, limit=most, **in_front_of(at))
        )

    def messages_between(
        self, session_id: str, after: int | None, before: int | None, limit: int
    ) -> list[StoredMessage]:
        """Messages after the mark, oldest first, after `after` and before `before`; None is no border."""
        end = in_front_of(before)
        return whole_page(
            limit,
            after,
            lambda at, most: self._behind_mark(
                "oldest", session_id, limit=most, after=clamped_number(at or 0), **end
            ),
        )

    def important_messages(self, session_id: str, threshold: float) -> list[StoredMessage]:
        """Messages after the mark that are pinned, or scored `threshold` or more; oldest first."""
        return list(stored_messages(self._behind_mark("important", session_id, threshold=threshold)))

    def unscored_messages(self, session_id: str, limit: int) -> list[StoredMessage]:
        """Messages after the mark without a score, by id."""
        return list(stored_messages(self._behind_mark("unscored", session_id, limit=clamped_number(limit))))

    def set_importance(self, scores: Mapping[int, float | None]) -> None:
        """Store scores, 0 to 1 or None for none, by message id; unknown ids are skipped."""
        wrong = [score for score in scores.values() if score is not None and not 0 <= score <= 1]
        if wrong:
            raise InvalidRequest(f"A message's importance is 0 to 1, not {wrong[0]}.", field="importance")
        values = [{"id": message_id, "importance": score} for message_id, score in scores.items()]
        if values:
            self._file.write(lambda sql: sql.many(_MESSAGES["score"], values))

    def set_pinned(self, message_id: int, pinned: bool) -> bool:
        """Pin or unpin a message; False when there is no such message."""
        return bool(self._change(_MESSAGES["pin"], id=clamped_number(message_id), pinned=1 if pinned else None))

    def messages_by_id(self, message_ids: Sequence[int]) -> dict[int, StoredMessage]:
        """The existing messages of these ids, by id."""
        return {stored.id: stored for stored in self._file.read(lambda sql: messages_with(sql, message_ids))}

    def thread_stretches(
        self, session_id: str, alone: Sequence[int], ends: Sequence[int], threshold: float
    ) -> list[Stretch]:
        """The whole thread, oldest first. Each message of `alone` is a stretch by itself, each of `ends` ends one."""
        values: dict[str, Value] = {"session": storable(session_id), "threshold": threshold}
        ids = json.dumps([*alone, *ends])

        def stretches_between(sql: Sql) -> list[Stretch]:
            cuts = [row[0] for row in sql.each(_WAYS["cuts"], **values, ids=ids)]
            between = _between(cuts, set(alone))
            rows = (sql.row(_WAYS["stretch"], **values, **place) for place in between)
            return [_stretch_of(row) for row in rows if row is not None and row[0]]

        return self._file.read(stretches_between)

    def get_summary(self, session_id: str) -> Summary | None:
        """The session's summary; None without one."""
        row = self._row(_MESSAGES["summary"], session=storable(session_id))
        return None if row is None else summary_of(row)

    def claim_summary(self, session_id: str, lease_s: float) -> str | None:
        """A claim to summarise, for `lease_s` seconds at most; None while another caller has it."""
        now_s, claim = self._clock().timestamp(), uuid.uuid4().hex
        until, session = now_s + lease_s, storable(session_id)
        claimed = self._change(_MESSAGES["claim"], session=session, claim=claim, now_s=now_s, until=until)
        return claim if claimed else None

    def put_summary(self, session_id: str, claim: str, summary: Summary) -> bool:
        """Replace the summary and release the claim.

        False, and nothing stored, when another has the claim, or when the messages it covers were deleted, marked
        off, or left the thread.
        """
        values: dict[str, Value] = {
            "session": storable(session_id),
            "upto": summary.upto_message_id,
            "text": storable(summary.text),
            "token_count": summary.token_count,
            "model": storable(summary.model),
            "created_at": time_text(summary.created_at or self._clock()),
        }

        def put_and_release(sql: Sql) -> bool:
            if not _release(sql, session_id, claim):
                return False
            return bool(sql.rows(_MESSAGES["put_summary"], **values))

        return self._file.write(put_and_release)

    def release_summary(self, session_id: str, claim: str) -> None:
        """Release the claim without a summary; does nothing when another has it by now."""
        self._file.write(lambda sql: _release(sql, session_id, claim))

    def _behind_mark(self, query: str, session_id: str, **values: Any) -> list[Row]:
        session = storable(session_id)
        return self._file.read(
            lambda sql: sql.rows(_MESSAGES[query], session=session, mark=mark_of(sql, session), **values)
        )


def whole_page(
    limit: int, begins: int | None, read: Callable[[int | None, int], Sequence[Row]]
) -> list[StoredMessage]:
    """A page of `limit` messages, fewer only at the end: damaged rows are replaced by further ones.

    `read` returns rows after, or before, a message, at most the given number.
    """
    found: list[StoredMessage] = []
    while (missing := clamped_number(limit) - len(found)) > 0:
        rows = read(begins, missing)
        found += stored_messages(rows)
        if len(rows) < missing:
            break
        begins = rows[-1][0]
    return found


def rows_before(sql: Sql, session_id: str, message_id: int, limit: int) -> list[Row]:
    """The rows before a message on the thread, after the mark, newest first."""
    mark = mark_of(sql, session_id)
    return sql.rows(_MESSAGES["newest"], session=session_id, mark=mark, limit=limit, **in_front_of(message_id))


def mark_of(sql: Sql, session_id: str) -> int:
    """The message after which windows of the session begin; 0 for none."""
    return int(sql.value(_MESSAGES["mark"], session=session_id))


def messages_with(sql: Sql, message_ids: Sequence[int]) -> list[StoredMessage]:
    """The existing ones of these messages, in the order of the ids."""
    return list(stored_messages(sql.many(_MESSAGES["one"], [{"id": clamped_number(one)} for one in message_ids])))


def in_front_of(before: int | None) -> Mapping[str, Any]:
    """The message before which to read, -1 for the end; no message is before a deleted one."""
    return {"before": -1 if before is None else clamped_number(before)}


def _release(sql: Sql, session_id: str, claim: str) -> bool:
    return bool(sql.rows(_MESSAGES["release"], session=storable(session_id), claim=claim))


def _between(cuts: Sequence[Any], alone: set[int]) -> list[dict[str, float]]:
    """The values of `stretch` for the stretches between the cuts, in the order of the thread.

    Ids are whole numbers: plus or minus a half, a border is right after or before a message.
    """
    borders = [_OUTSIDE]
    for id in cuts:
        borders += [(id, id - 0.5), (id, id + 0.5)] if id in alone else [(id, id + 0.5)]
    borders.append(_OUTSIDE)
    return [
        {"after": after, "behind": behind, "before": before, "in_front": in_front}
        for (after, behind), (before, in_front) in pairwise(borders)
    ]


def _stretch_of(row: Row) -> Stretch:
    messages, tokens, first, last, apart_messages, apart_tokens = row
    return Stretch(
        first=first,
        last=last,
        messages=messages,
        tokens=int(tokens),
        apart_messages=int(apart_messages),
        apart_tokens=int(apart_tokens),
    )
