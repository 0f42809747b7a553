"""Conversations of a chat application, and the conversion of their turns to messages.

Each turn becomes a question and an answer; a message with files is a list of parts, the files first. A switch of the
application decides whether files of old turns are shown again: chat applications have it in their configuration,
workflow-backed ones in the workflow that answered the turn.
"""

import bisect
import uuid
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, Protocol

import structlog

from mnemoir.conversations.log.files import Detail, FileRef, FileResolver, HistoryFiles, file_ref, history_detail
from mnemoir.conversations.turns.presets import DEFAULT, HistoryRules, select_turns
from mnemoir.conversations.turns.threads import NIL, row_limit, stored_turns
from mnemoir.core.clock import Clock, utc_now
from mnemoir.core.conversations import MediaType, Message
from mnemoir.core.errors import InvalidRequest
from mnemoir.ports.turns import Attachment, Turn, TurnRows

_log = structlog.get_logger(__name__)
_SMALLEST_PAGE = 20
_LARGEST_PAGE = 500


class AppMode(StrEnum):
    """The kinds of application that hold conversations; the last two are backed by workflows."""

    COMPLETION = "completion"
    CHAT = "chat"
    AGENT_CHAT = "agent-chat"
    ADVANCED_CHAT = "advanced-chat"
    WORKFLOW = "workflow"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A conversation of an application, with the sources of its turns and files.

    `mode` is a value of `AppMode`. `rows` must contain only this tenant's turns. Without `files` the history is text.
    """

    id: str
    app_id: str
    tenant_id: str
    mode: str = AppMode.CHAT
    model_config: Mapping[str, Any] | None = None  # JSON
    rows: TurnRows = field(repr=False)
    files: FileResolver | None = field(default=None, repr=False)


class Conversations(Protocol):
    """A source of conversations."""

    def find(self, conversation_id: str, *, app_id: str, tenant_id: str) -> Conversation | None:
        """The tenant's conversation with that application; None for an unknown id."""


def use_conversations(conversations: Conversations | None) -> None:
    """Set this process's default source of conversations; None removes it."""
    _usual["conversations"] = conversations


def known_conversations(given: Conversations | None) -> Conversations | None:
    """The given source, else the one of `use_conversations`."""
    return _usual["conversations"] if given is None else given


def history_turns(
    conversation: Conversation,
    rules: HistoryRules = DEFAULT,
    *,
    message_limit: int | None = None,
    turn_id: str | None = None,
) -> list[Turn]:
    """The turns that lead to `turn_id` (default: the newest turn), oldest first, as the rules select them."""
    rows = conversation.rows
    limit = row_limit(message_limit)
    page_size = limit if rules.limit_applies_to == "rows" else min(max(limit + 1, _SMALLEST_PAGE), _LARGEST_PAGE)
    return select_turns(
        stored_turns(rows, conversation.id, page_size=page_size),
        rules,
        message_limit=message_limit,
        start=turn_id,
        has_files=lambda turn: bool(rows.attachments([turn.id]).get(turn.id)),
    )


def turn_messages(
    conversation: Conversation, turns: Sequence[Turn], *, accepts: Collection[MediaType] | None = None
) -> list[Message]:
    """The messages of these turns, two per turn, for a model that accepts the media in `accepts` (None: all).

    A message without text whose files are all missing is left out. When a turn has files, raises ValueError for a
    mode that is not an `AppMode`.
    """
    return list(_messages(conversation, turns, accepts))


def _messages(
    conversation: Conversation, turns: Sequence[Turn], accepts: Collection[MediaType] | None
) -> Iterator[Message]:
    attachments = conversation.rows.attachments([turn.id for turn in turns]) if conversation.files and turns else {}
    for turn in turns:
        refs = [file_ref(attachment) for attachment in attachments.get(turn.id, ())]
        detail = _detail(conversation, turn) if refs else None
        yield from _message("user", turn.query, refs, detail, conversation, accepts)
        yield from _message("assistant", turn.answer, refs, detail, conversation, accepts)


def _message(
    role: Literal["user", "assistant"],
    text: str,
    refs: Sequence[FileRef],
    detail: Detail | None,
    conversation: Conversation,
    accepts: Collection[MediaType] | None,
) -> Iterator[Message]:
    own = [ref for ref in refs if ref.belongs_to == role]
    if not own or conversation.files is None:
        yield Message(role, text)
        return
    files = HistoryFiles(resolver=conversation.files, tenant_id=conversation.tenant_id, accepts=accepts)
    content = files.content(text, own, detail=detail) if detail else text
    if content:
        yield Message(role, content)


def _detail(conversation: Conversation, turn: Turn) -> Detail | None:
    """The detail level of a turn's images; None when its files are not shown again."""
    mode = AppMode(conversation.mode)
    if mode not in (AppMode.ADVANCED_CHAT, AppMode.WORKFLOW):
        return history_detail(conversation.model_config or {}, reads_detail=True)
    features = conversation.rows.run_features(turn.workflow_run_id) if turn.workflow_run_id else None
    if features is None:
        _log.warning(
            "history_files_skipped",
            turn=turn.id,
            reason="the run of the turn or its workflow does not exist any more",
        )
        return None
    return history_detail(features, reads_detail=False)


def checked_parent(parent: str | None, known: Collection[str]) -> str | None:
    """The parent pointer to store; None for an empty one.

    Raises InvalidRequest for a pointer that is neither the sentinel nor the id of a `known` turn of the conversation:
    a client's placeholder would cut the history off at that turn for ever.
    """
    if not parent:
        return None
    if parent != NIL and parent not in known:
        raise InvalidRequest(
            f"The parent {parent!r:.60} is not a turn of this conversation; give the id of the turn before, or none.",
            field="parent_message_id",
        )
    return parent


_usual: dict[str, Conversations | None] = {"conversations": None}


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
