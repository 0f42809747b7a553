"""Threads and histories by the reference's rules, implemented in another way, for comparison."""

from collections.abc import Sequence

from mnemoir.conversations.turns.threads import NIL
from mnemoir.ports.turns import Turn

MOST = 500


def thread_of(rows: Sequence, rule: str, start: str | None) -> list[str]:
    """Jumps from each row to its parent (`scoped`), or to the first older row that `observed` takes; newest first."""
    at = 0 if start is None else next((i for i, row in enumerate(rows) if row.id == start), len(rows))
    thread = []
    while at < len(rows) and rows[at].id not in thread:
        thread.append(rows[at].id)
        pointer = rows[at].parent_message_id
        if pointer in (None, ""):
            break
        older = range(at + 1, len(rows))
        if rule == "observed":
            wanted = [i for i in older if pointer in (NIL, rows[i].id) or not rows[i].parent_message_id]
        else:
            wanted = [i for i, row in enumerate(rows) if (at + 1 == i if pointer == NIL else row.id == pointer)]
        at = min(wanted, default=len(rows))
    return thread


def history_of(
    stored: Sequence[Turn], rule: str, *, limit: int | None, counts_rows: bool, skips_empty: bool, start: str | None
) -> list[str]:
    """The ids of the turns that make a history, oldest first; `stored` in any order."""
    most = MOST if limit is None or limit < 1 else min(limit, MOST)
    rows = sorted(stored, key=lambda turn: (turn.created_at, turn.seq), reverse=True)
    thread = thread_of(rows[:most] if counts_rows else rows, rule, start)
    turns = {turn.id: turn for turn in stored}
    if thread and turns[thread[0]].answer == "" and turns[thread[0]].answer_tokens == 0:
        thread = thread[1:]
    if skips_empty:
        thread = [id for id in thread if turns[id].answer or turns[id].has_tool_calls]
    return list(reversed(thread[:most]))
