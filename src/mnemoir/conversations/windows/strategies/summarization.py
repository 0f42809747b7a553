"""The strategy `summarization`: a summary of older messages, then the recent messages unchanged.

A new summary ends more than ten turns after the end of the last one. When that many turns have left the window, it
ends where the recent part begins. In a tight budget each further turn would push out an older one and cost a model
call; there the summary extends into the recent part, which is still shown in full, so that the next ten or so turns
cost no call, and every turn is in the summary or the recent part.
"""

from collections.abc import Sequence

from mnemoir.conversations.windows.fitting import borders, fitting_cut
from mnemoir.conversations.windows.strategies.summarising import Extension, SummaryExtender, SummaryOptions
from mnemoir.conversations.windows.strategies.tail import SimpleStrategy, StoredStrategy, Tail, read_tail
from mnemoir.conversations.windows.strategies.transcript import made_message, shortened_summary
from mnemoir.core.conversations import StoredMessage, Summary, calls_of, messages_of
from mnemoir.ports.log import WindowRows

_TURNS = 11


def fold_before(tail: Tail, start: int, uncovered: int) -> int | None:
    """The id of the first message that the new summary does not cover; None when it covers all.

    `start` is the index where the recent part begins, `uncovered` the index of the first message in no summary. An
    unfinished newest turn is not summarised while it is recent.
    """
    messages = tail.messages
    ends = [at for at in borders(messages, "turn") if at > uncovered]
    if messages and messages[-1].role == "assistant" and not calls_of(messages[-1]):
        ends.append(len(messages))
    border = max(start, ends[min(_TURNS, len(ends)) - 1]) if ends else start
    return tail.stored[border].id if border < len(messages) else None


class SummarizationStrategy(StoredStrategy):
    """All messages when they fit; else one system message with the summary, followed by the recent messages.

    Between two summaries the recent part grows as long as it fits. When it no longer fits, all messages but the last
    `recent_messages`, extended to the beginning of their turn, are added to the summary. When these do not fit beside
    a summary, they are reduced by whole turns. When not even one turn fits, or the summariser fails or is late, the
    window is that of `simple`.
    """

    def __init__(
        self, options: SummaryOptions, *, recent_messages: int = 20, fallback: SimpleStrategy | None = None
    ) -> None:
        self._options = options
        self._counter = options.counter
        self._recent_messages = max(1, recent_messages)
        self._summarising = SummaryExtender(options)
        self._fallback = fallback or SimpleStrategy(counter=options.counter)

    def choose(
        self, rows: WindowRows, session_id: str, budget: int, *, summarises: bool = True
    ) -> list[StoredMessage]:
        """See StoredStrategy. At most one model call, only when messages outside the window are in no summary."""
        tail = read_tail(rows, session_id, budget, self._counter)
        if tail.fits:
            return [*tail.stored]
        known = rows.get_summary(session_id)
        if known and (window := self._behind(known, tail, budget, gap_allowed=False)):
            return window
        room = budget - self._options.max_summary_tokens
        start = max(self._wanted_start(tail), fitting_cut(tail.messages, room, self._counter, "exchange"))
        if start == len(tail.stored):
            return self._fallback.choose(rows, session_id, budget)
        uncovered = (tail.index_after(known.upto_message_id) if known else None) or 0
        extension = Extension(summary=known)
        if summarises:
            extension = self._summarising.extend(rows, session_id, fold_before(tail, start, uncovered))
        window = self._behind(extension.summary, tail, budget, gap_allowed=True) if extension.summary else []
        return window or self._fallback.choose(rows, session_id, budget)

    def drain(self, timeout_s: float | None = None) -> bool:
        """Wait for running summaries; True when all have ended."""
        return self._summarising.drain(timeout_s)

    def _behind(self, summary: Summary, tail: Tail, budget: int, *, gap_allowed: bool) -> list[StoredMessage]:
        """The summary and the recent part; empty when no turn fits beside it, or there is a gap between the two."""
        text = shortened_summary(summary.text, self._options.max_summary_tokens, self._counter)
        lead = [made_message(text)] if text else []
        cut = _cut_behind(lead, tail, budget, self._options)
        uncovered = tail.index_after(summary.upto_message_id)
        has_gap = uncovered is None or cut > uncovered
        if cut == len(tail.stored) or (has_gap and not gap_allowed):
            return []
        start = (
            cut if has_gap or uncovered is None else max(cut, min(self._wanted_start(tail), tail.border(uncovered)))
        )
        return [*lead, *tail.stored[start:]]

    def _wanted_start(self, tail: Tail) -> int:
        """The index where the recent part begins if all of it fits."""
        return tail.border(max(0, len(tail.stored) - self._recent_messages))


def _cut_behind(lead: Sequence[StoredMessage], tail: Tail, budget: int, options: SummaryOptions) -> int:
    """The index in the tail where the part that fits beside `lead` begins."""
    pinned = range(len(lead))
    return max(
        0, fitting_cut(messages_of([*lead, *tail.stored]), budget, options.counter, "exchange", 0, pinned) - len(lead)
    )
