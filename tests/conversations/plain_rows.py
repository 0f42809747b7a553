"""One thread in memory in the place of a session file, for strategies that are tried thousands of times."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mnemoir.core.conversations import ROOT, Message, StoredMessage, Summary
from mnemoir.ports.log import WindowRows


class PlainRows:
    """The rows of one thread, whatever the session is called. Its first message has the id 1."""

    def __init__(self, messages: Sequence[Message], *, pinned: Sequence[int] = (), mark: int = 0) -> None:
        self._rows = [
            StoredMessage(
                id=at + 1, session_id="s", message=one, created_at=None, parent_id=at or ROOT, pinned=at in pinned
            )
            for at, one in enumerate(messages)
        ]
        self._mark = mark
        self._summary: Summary | None = None

    def mark_context(self, session_id: str) -> int | None:
        self._mark = len(self._rows)
        return self._mark or None

    def newest_messages(self, session_id: str, limit: int, *, before: int | None = None) -> list[StoredMessage]:
        end = len(self._rows) if before is None else before - 1
        return self._rows[max(self._mark, end - limit) : end][::-1]

    def messages_between(
        self, session_id: str, after: int | None, before: int | None, limit: int
    ) -> list[StoredMessage]:
        end = len(self._rows) if before is None else before - 1
        return self._rows[max(self._mark, after or 0) : end][:limit]

    def important_messages(self, session_id: str, threshold: float) -> list[StoredMessage]:
        return [
            one
            for one in self._rows[self._mark :]
            if one.pinned or (one.importance is not None and one.importance >= threshold)
        ]

    def unscored_messages(self, session_id: str, limit: int) -> list[StoredMessage]:
        return [one for one in self._rows[self._mark :] if one.importance is None][:limit]

    def set_importance(self, scores: Mapping[int, float | None]) -> None:
        for number, score in scores.items():
            self._rows[number - 1] = replace(self._rows[number - 1], importance=score)

    def set_pinned(self, message_id: int, pinned: bool) -> bool:
        self._rows[message_id - 1] = replace(self._rows[message_id - 1], pinned=pinned)
        return True

    def messages_by_id(self, message_ids: Sequence[int]) -> dict[int, StoredMessage]:
        return {number: self._rows[number - 1] for number in message_ids}

    def thread_stretches(self, session_id, alone, ends, threshold):
        raise AssertionError("no strategy asks for stretches")

    def get_summary(self, session_id: str) -> Summary | None:
        return self._summary

    def claim_summary(self, session_id: str, lease_s: float) -> str | None:
        return "claim"

    def put_summary(self, session_id: str, claim: str, summary: Summary) -> bool:
        self._summary = summary
        return True

    def release_summary(self, session_id: str, claim: str) -> None:
        return None


_: type[WindowRows] = PlainRows  # checked, never run
