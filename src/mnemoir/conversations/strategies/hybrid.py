"""The strategy `hybrid`: system messages, a summary of the routine part, important messages, and the recent part."""

from collections.abc import Sequence
from dataclasses import replace

from mnemoir.conversations.counters import CHARS4, TokenCounter
from mnemoir.conversations.importance import IMPORTANT, score_importance
from mnemoir.conversations.messages import Message
from mnemoir.conversations.session_storage import WindowRows
from mnemoir.conversations.sessions import StoredMessage, Summary
from mnemoir.conversations.strategies.retained import Retained, retained_rounds
from mnemoir.conversations.strategies.scoring import Score, score_new
from mnemoir.conversations.strategies.shares import Draft, shared
from mnemoir.conversations.strategies.strategy import Strategy
from mnemoir.conversations.strategies.summarising import Summarising, SummaryOptions
from mnemoir.conversations.strategies.tail import Tail, messages_of, read_tail
from mnemoir.conversations.strategies.transcript import summary_message
from mnemoir.conversations.strategies.turns_ahead import fold_before
from mnemoir.core.errors import InvalidRequest, SettingsError

_LEFT_OUT = "Earlier messages are left out here; important ones follow."


class BudgetTooSmall(InvalidRequest):
    """The system messages of a session, which are never dropped, do not fit its budget."""

    code = "budget_too_small"


class HybridStrategy:
    """All messages when they fit; else the important ones of the older, word for word, in front of the recent part.

    Important is what is pinned, or scores `importance_threshold` or more. With `options` the rest is summarised; when
    that fails, the window is made with the summary there was.
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
        self._summarising = Summarising(options) if options else None
        self._threshold = importance_threshold
        self._score = score

    def window(self, rows: WindowRows, session_id: str, budget: int) -> list[Message]:
        """Raises BudgetTooSmall when the system messages alone are over the budget. At most one model call."""
        tail = read_tail(rows, session_id, budget, self._counter, "turn")
        if tail.fits:
            return tail.from_(0)
        score_new(rows, session_id, score=self._score)
        important = rows.important_messages(session_id, self._threshold)
        system = _system_messages(important, tail)
        room = budget - self._counter.count(system)
        if room < 0:
            raise BudgetTooSmall(
                f"The system messages of the session {session_id!r:.80} take {budget - room} tokens and the "
                f"budget is {budget}. Raise the budget, or shorten what is stored as system messages."
            )
        kept = retained_rounds(rows, session_id, (one for one in important if one.message.role != "system"))
        return [*system, *self._behind_system(rows, session_id, tail, kept, room)]

    def drain(self, timeout_s: float | None = None) -> bool:
        """Wait for the summaries under way; whether all of them are done."""
        return self._summarising is None or self._summarising.drain(timeout_s)

    def _behind_system(
        self, rows: WindowRows, session_id: str, tail: Tail, kept: Sequence[Retained], room: int
    ) -> list[Message]:
        """A history that begins with an answer is refused, unless it says why: that is paid for before all else."""
        talk = replace(tail, stored=[one for one in tail.stored if one.message.role != "system"])
        draft = self._draft(rows, session_id, tail, talk, kept, room)
        if not (draft.retained and draft.messages[0].role == "assistant"):
            return draft.messages
        hint = summary_message(_LEFT_OUT)
        messages = self._shared(talk, kept, "", room - self._counter.count([hint])).messages
        return [hint, *messages] if messages and messages[0].role == "assistant" else messages

    def _draft(
        self, rows: WindowRows, session_id: str, tail: Tail, talk: Tail, kept: Sequence[Retained], room: int
    ) -> Draft:
        known = rows.get_summary(session_id) if self._summarising else None
        draft = self._shared(talk, kept, known.text if known else "", room)
        if self._summarising and _has_gap(draft, tail, known):
            before = fold_before(draft.tail, draft.start, _uncovered(tail, known) or 0)
            extension = self._summarising.extend(rows, session_id, before, self._is_kept_apart)
            known = known if extension.failed else extension.summary
            draft = self._shared(talk, kept, known.text if known else "", room)
        return draft

    def _shared(self, talk: Tail, kept: Sequence[Retained], summary: str, room: int) -> Draft:
        return shared(talk, kept, summary, room, self._most_summary, self._counter)

    def _is_kept_apart(self, stored: StoredMessage) -> bool:
        is_important = stored.importance is not None and stored.importance >= self._threshold
        return stored.message.role == "system" or stored.pinned or is_important


def _system_messages(important: Sequence[StoredMessage], tail: Tail) -> list[Message]:
    """All of the session, in order: those with a score, and the newest ones that have none yet."""
    known = {one.id: one for one in [*important, *tail.stored] if one.message.role == "system"}
    return messages_of(list(known.values()))


def _has_gap(draft: Draft, tail: Tail, summary: Summary | None) -> bool:
    """Whether messages in front of the recent part are in no summary."""
    uncovered = _uncovered(tail, summary)
    return uncovered is None or draft.start > uncovered


def _uncovered(tail: Tail, summary: Summary | None) -> int | None:
    """`Tail.uncovered`, as an index among the messages that are no system messages."""
    at = tail.uncovered(summary.upto_message_id) if summary else (0 if tail.is_whole else None)
    return None if at is None else sum(one.message.role != "system" for one in tail.stored[:at])


_: type[Strategy] = HybridStrategy  # checked, never run
