"""The transcript lines that a summariser reads, and the system message that shows its summary.

A message is one line that begins with its role, so that no text in it can be mistaken for another message.
"""

import json
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mnemoir.conversations.windows.counters import TokenCounter
from mnemoir.conversations.windows.validity import SUMMARY_PREFIX
from mnemoir.core.conversations import ROOT, MediaPart, Message, StoredMessage, calls_of
from mnemoir.core.sentences import sentence_ends

Clean = Callable[[str], str]

_TOOL_CHARACTERS = 500  # of a result, and of the arguments of a call


def transcript_line(message: Message, clean: Clean) -> str:
    """`user: …` in one line, cleaned and then clipped; "" for an empty message."""
    said = _one_line(clean(message.text))
    if message.role == "tool":
        said = _shortened_text(said)
    pieces = [said, *_files(message), *_calls(message, clean)]
    told = " ".join(piece for piece in pieces if piece)
    speaker = f"tool {message.name}" if message.role == "tool" and message.name else message.role
    return f"{_one_line(speaker)}: {told}" if told else ""


def summary_message(text: str) -> Message:
    """The system message with a summary."""
    return Message("system", SUMMARY_PREFIX + text)


def made_message(text: str) -> StoredMessage:
    """The system message with a summary as a message of a window that is not in the store."""
    return StoredMessage(id=ROOT, session_id="", message=summary_message(text), created_at=None, made=True)


def shortened_summary(text: str, max_tokens: int, counter: TokenCounter) -> str:
    """The first sentences of the summary whose `summary_message` is within `max_tokens`.

    When the first sentence is too long, its beginning; "" when not even one character fits.
    """
    text = text.strip()

    def fits(length: int) -> bool:
        return counter.count([summary_message(text[:length])]) <= max_tokens

    if not text or fits(len(text)):
        return text
    ends = [end for end, _ in sentence_ends(text)]
    if ends and fits(ends[0]):
        return text[: ends[_last_that(fits, ends)]].rstrip()
    lengths = range(len(text))
    return text[: lengths[_last_that(fits, lengths)]].rstrip()


def _last_that(fits: Callable[[int], bool], lengths: Sequence[int]) -> int:
    """The index of the last length that fits; 0 when none does."""
    return max(0, bisect_right(lengths, False, key=lambda length: not fits(length)) - 1)


def _files(message: Message) -> list[str]:
    parts = message.content if isinstance(message.content, list) else []
    files = (part for part in parts if isinstance(part, MediaPart))
    return [f"[{_one_line(f'{file.type} {file.filename}')}]" for file in files]


def _calls(message: Message, clean: Clean) -> list[str]:
    return [
        f"[calls {_one_line(call.name)} with {_shortened_text(_one_line(clean(_as_json(call.arguments))))}]"
        for call in calls_of(message)
    ]


def _as_json(arguments: Mapping[str, Any]) -> str:
    return json.dumps(dict(arguments), default=str, ensure_ascii=False)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _shortened_text(text: str) -> str:
    return text if len(text) <= _TOOL_CHARACTERS else f"{text[:_TOOL_CHARACTERS]}…"
