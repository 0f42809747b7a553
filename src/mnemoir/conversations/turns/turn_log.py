"""An in-memory store of turns, for scripts without a database and for tests."""

import bisect
import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from mnemoir.conversations.turns.turns import checked_parent
from mnemoir.core.clock import Clock, utc_now
from mnemoir.ports.turns import Attachment, Turn, TurnRows


def _when(turn: Turn) -> tuple[datetime, int]:
    return turn.created_at, turn.seq


class TurnLog:
    """One tenant's turns, attachments and workflow features; `turns` and `attachments` are not checked."""

    def __init__(
        self,
        turns: Iterable[Turn] = (),
        *,
        attachments: Iterable[Attachment] = (),
        features: Mapping[str, Mapping[str, Any]] | None = None,  # JSON by workflow run
        clock: Clock = utc_now,
    ) -> None:
        self._by_conversation: dict[str, list[Turn]] = defaultdict(list)
        self._attachments: dict[str, list[Attachment]] = defaultdict(list)
        self._features = dict(features or {})
        self._clock = clock
        self._seq = 0
        for turn in turns:
            self._insert(turn)
        for attachment in attachments:
            self._attachments[attachment.message_id].append(attachment)

    def add(self, conversation_id: str, query: str, answer: str = "", *, parent: str | None, tokens: int = 0) -> Turn:
        """Store a new turn, answered or not. It becomes the newest, even when the clock was set back.

        Raises InvalidRequest for a parent that is neither a turn of the conversation, nor the sentinel, nor None.
        """
        stored = self._by_conversation[conversation_id]
        turn = Turn(
            id=str(uuid.uuid4()),
            conversation_id=conversation_id,
            parent_message_id=checked_parent(parent, {turn.id for turn in stored}),
            query=query,
            answer=answer,
            answer_tokens=tokens,
            created_at=max([self._clock(), *(turn.created_at for turn in stored[-1:])]),
            seq=self._seq + 1,
        )
        self._insert(turn)
        return turn

    def _insert(self, turn: Turn) -> None:
        bisect.insort(self._by_conversation[turn.conversation_id], turn, key=_when)
        self._seq = max(self._seq, turn.seq)

    def newest_first(self, conversation_id: str, *, limit: int, before: Turn | None = None) -> Sequence[Turn]:
        rows = self._by_conversation.get(conversation_id, [])
        end = bisect.bisect_left(rows, _when(before), key=_when) if before else len(rows)
        return rows[max(0, end - limit) : end][::-1]

    def attachments(self, turn_ids: Sequence[str]) -> Mapping[str, Sequence[Attachment]]:
        return {turn_id: self._attachments[turn_id] for turn_id in turn_ids if turn_id in self._attachments}

    def run_features(self, workflow_run_id: str) -> Mapping[str, Any] | None:
        return self._features.get(workflow_run_id)


_: type[TurnRows] = TurnLog
