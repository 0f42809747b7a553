"""The words of models' servers for the end of an answer, and what each means: one table for all protocols.

Servers write the same reason in many ways: `MAX_TOKENS`, `maxTokens`, `max-tokens`, `length: limit reached`. So case,
separators and what stands behind a colon count for nothing, and the table holds stems. A word that is in no row, such
as `eos_token` or `done`, is an ordinary end.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal

from mnemoir.core import first_use
from mnemoir.core.events import FinishReason
from mnemoir.wire import upstream

Meaning = FinishReason | Literal["broken", "none", "unended"]
"""What a reason says: how the answer ended, that it broke off, nothing, or that it has not ended yet."""

_STEMS: Sequence[tuple[Meaning, str]] = (
    ("none", r"^$|^null$|^none$|unspecified"),
    (
        "stop",
        r"^(?:no|not|non|without)_(?:error|fail|abort|cancel|timeout|timed_out|exception|interrupt|trunc|limit)",
    ),
    ("unended", r"not_finished|unfinished|in_progress|queued|running|generating"),
    (
        "content_filter",
        "filter|safety|recitation|sensitive|moderat|blocked|blocklist|prohibited|spii|refus|guardrail|toxic|censor"
        "|policy|violation|inappropriate|flagged|unsafe|harmful|copyright|illegal|^language$|unsupported_language",
    ),
    (
        "broken",
        "error|abort|cancel|fail|network|connection|insufficient|resource|time|rate_limit|too_many|disconnect"
        "|interrupt|incomplete|overload|unavailable|crash|exception|malformed|unexpected|unloaded|killed|terminated"
        "|shut|closed|dropped|preempt|evict|quota|out_of_memory|(?:^|_)oom(?:_|$)|reject|denied|invalid|expired|partial|reset|lost|unauthori|forbidden|billing|died|dead|stall"
        "|^internal(?:_server)?$|data_loss|unauthenticated|unimplemented",
    ),
    ("length", "length|max_|maxtokens|maximum|limit|truncat|context|budget|too_long|overflow|exceed"),
    ("tool_calls", "tool|function"),
)
"""The first row with a stem within the word decides."""
_ROWS = tuple((meaning, first_use.pattern(stems)) for meaning, stems in _STEMS)
_HUMP = first_use.pattern(r"(?<=[a-z0-9])(?=[A-Z])")
_SEPARATORS = first_use.pattern(r"[^a-z0-9]+")
_LONGEST = 200  # characters of a reason that are looked at


def read_reason(value: object) -> FinishReason | None:
    """What a server's value says of an answer's end; None where it says that there is none yet.

    Raises FailedAnswer for an answer that broke off.
    """
    if value == "stop":
        return "stop"
    meaning = _meaning(value)
    if meaning == "broken":
        raise upstream.FailedAnswer(f"The model's server broke off its answer with the reason {_word(value)!r}.")
    return None if meaning == "none" or meaning == "unended" else meaning


def finish_reason(value: object, *, has_calls: bool) -> FinishReason:
    """The reason of an answer that is complete; `stop` where the value says nothing. Raises as `read_reason` does,
    and FailedAnswer where the value says that there is more to come.

    `stop` after tool calls means that the calls are the answer; a client could do nothing upon `tool_calls` alone.
    """
    if is_unended(value):
        raise upstream.ended_early()
    reason = read_reason(value) or "stop"
    if reason in ("stop", "tool_calls"):
        return "tool_calls" if has_calls else "stop"
    return reason


def is_unknown(value: object) -> bool:
    """True for a word that no row knows, which is an ordinary end."""
    return value != "stop" and bool(value) and _meaning(value) == "stop"


def is_end(value: object) -> bool:
    """True for a value that says that the answer has ended, in whatever way."""
    return _meaning(value) not in ("none", "unended")


def is_unended(value: object) -> bool:
    """True for a value that says that the answer has not ended yet."""
    return value != "stop" and _meaning(value) == "unended"


def _word(value: object) -> str:
    """The word of a reason, which some servers put into an object; "" for none, the type of anything else."""
    if isinstance(value, str):
        return value[:_LONGEST]
    if isinstance(value, Mapping):
        return _word(value.get("type") or value.get("reason"))
    return type(value).__name__ if value else ""


def _meaning(value: object) -> Meaning:
    return _meaning_of_word(_word(value))


@lru_cache(maxsize=256)
def _meaning_of_word(word: str) -> Meaning:
    name = _SEPARATORS.sub("_", _HUMP.sub("_", word.partition(":")[0]).lower()).strip("_")
    return next((meaning for meaning, stems in _ROWS if stems.search(name)), "stop")
