"""The strategy `hybrid`: system messages, a summary of the routine part, important messages, and the recent part."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from mnemoir.conversations.windows.counters import CHARS4, TokenCounter
from mnemoir.conversations.windows.importance import IMPORTANT, score_importance
from mnemoir.conversations.windows.strategies.retained import (
    RetainedRound,
    Score,
    question_before,
    retained_rounds,
    score_new,
)
from mnemoir.conversations.windows.strategies.shares import WindowDraft, behind_question, fullest_draft
from mnemoir.conversations.windows.strategies.summarising import Extension, SummaryExtender, SummaryOptions
from mnemoir.conversations.windows.strategies.summarization import fold_before
from mnemoir.conversations.windows.strategies.tail import StoredStrategy, Tail, read_tail
from mnemoir.core.conversations import StoredMessage, Summary, messages_of
from mnemoir.core.errors import InvalidRequest, SettingsError
from mnemoir.ports.log import WindowRows


class BudgetTooSmall(InvalidRequest):
    """The system messages of a session, which are never dropped, do not fit into the budget."""

    code = "budget_too_small"


class HybridStrategy(StoredStrategy):
    """All messages when they fit; else the important older messages unchanged, followed by the recent part.

    A message is important when it is pinned or scores `importance_threshold` or more. An answer that would come first
    takes its question along. With `options` the other older messages are summarised; when that fails, the window uses
    the previous summary. When not even a user's message fits, only the system messages are left.
    """

    def __init__(
        self,
        options: SummaryOptions | None = None,
        *,
        counter: TokenCounter = CHARS4,
        importance_threshold: float = IMPORTANT,
        score: Score = score_importance,
    ) -> None:
        if not 0 <= importance_threshold <= 1:
            raise SettingsError(f"importance_threshold is a number from 0 to 1, not {importance_threshold!r:.40}.")
        self._counter = options.counter if options else counter
        self._most_summary = options.max_summary_tokens if options else 512
        self._summarising = SummaryExtender(options) if options else None
        self._threshold = importance_threshold
        self._score = score

    def choose(
        self, rows: WindowRows, session_id: str, budget: int, *, summarises: bool = True
    ) -> list[StoredMessage]:
        """See StoredStrategy. At most one model call. Raises BudgetTooSmall when the system messages do not fit."""
        tail = read_tail(rows, session_id, budget, self._counter)
        if tail.fits:
            return [*tail.stored]
        score_new(rows, session_id, score=self._score)
        important = rows.important_messages(session_id, self._threshold)
        system = _system_messages(important, tail)
        room = budget - self._counter.count(messages_of(system))
        if room < 0:
            raise BudgetTooSmall(
                f"The system messages of the session {session_id!r:.80} take {budget - room} tokens and the "
                f"budget is {budget}. Raise the budget, or shorten what is stored as system messages."
            )
        kept = retained_rounds(rows, session_id, (one for one in important if one.message.role != "system"))
        talk = replace(tail, stored=[one for one in tail.stored if one.message.role != "system"])
        draft = self._draft(self._summaries(rows, session_id, summarises), tail, talk, kept, room)
        draft = behind_question(draft, partial(question_before, rows, session_id), room, self._counter)
        return [*system, *draft.stored_messages]

    def drain(self, timeout_s: float | None = None) -> bool:
        """Wait for running summaries; True when all have ended."""
        return self._summarising is None or self._summarising.drain(timeout_s)

    def _summaries(self, rows: WindowRows, session_id: str, summarises: bool) -> "_Summaries":
        if self._summarising is None:
            return _Summaries()
        extend = partial(self._summarising.extend, rows, session_id) if summarises else None
        return _Summaries(known=rows.get_summary(session_id), extend=extend)

    def _draft(
        self, summaries: "_Summaries", tail: Tail, talk: Tail, kept: Sequence[RetainedRound], room: int
    ) -> WindowDraft:
        known = summaries.known
        draft = self._fullest_draft(talk, kept, known, room)
        if summaries.extend and _has_gap(draft, tail, known):
            before = fold_before(draft.tail, draft.start, _index_after_summary(tail, known) or 0)
            extension = summaries.extend(before, self._is_kept_apart)
            draft = self._fullest_draft(talk, kept, known if extension.failed else extension.summary, room)
        return draft

    def _fullest_draft(
        self, talk: Tail, kept: Sequence[RetainedRound], summary: Summary | None, room: int
    ) -> WindowDraft:
        text = summary.text if summary else ""
        return fullest_draft(talk, kept, text, room, self._most_summary, self._counter)

    def _is_kept_apart(self, stored: StoredMessage) -> bool:
        is_important = stored.importance is not None and stored.importance >= self._threshold
        return stored.message.role == "system" or stored.pinned or is_important


@dataclass(frozen=True, slots=True, kw_only=True)
class _Summaries:
    """The session's summary, and the function that extends it up to a message; None when no model may be called."""

    known: Summary | None = None
    extend: Callable[[int | None, Callable[[StoredMessage], bool]], Extension] | None = None


def _system_messages(important: Sequence[StoredMessage], tail: Tail) -> list[StoredMessage]:
    """All system messages of the session, in order: scored ones, then new ones without a score."""
    known = {one.id: one for one in [*important, *tail.stored] if one.message.role == "system"}
    return list(known.values())


def _has_gap(draft: WindowDraft, tail: Tail, summary: Summary | None) -> bool:
    """True when messages before the recent part are in no summary."""
    uncovered = _index_after_summary(tail, summary)
    return uncovered is None or draft.start > uncovered


def _index_after_summary(tail: Tail, summary: Summary | None) -> int | None:
    """`Tail.index_after` for the summary, as an index among the messages other than system messages."""
    at = tail.index_after(summary.upto_message_id) if summary else (0 if tail.is_whole else None)
    return None if at is None else sum(one.message.role != "system" for one in tail.stored[:at])
