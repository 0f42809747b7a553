"""The output of a chat: its interface, and plain text or JSON lines for pipes. `terminal` has the terminal's.

No terminal interprets a part of a text from a model or a person as a command: such texts are sanitized.
"""

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

import orjson

from mnemoir.cli.chat.conversation import Answer
from mnemoir.cli.output import note

# control characters except tab and newline, bidirectional controls, and surrogates
_ACTIVE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def inert(text: str) -> str:
    """`text` with active characters as escapes; joiners and blanks of other scripts stay unchanged."""
    return _ACTIVE.sub(lambda found: found[0].encode("unicode_escape").decode(), text.replace("\r\n", "\n"))


def clipped_line(text: str, longest: int) -> str:
    """`text` on one line, cut to `longest` characters with a final ellipsis."""
    line = " ".join(inert(text).split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


class Show(Protocol):
    """A function that shows the next piece of an answer."""

    def __call__(self, piece: str) -> None: ...


class Display(Protocol):
    """The output of a chat."""

    @contextmanager
    def answering(self, question: str) -> Iterator[Show]:
        """Show one answer piece by piece; leaving the context ends it, complete or not."""
        ...  # pragma: no cover

    def complete(self, answer: Answer, conversation_id: str | None) -> None:
        """Report that the last shown answer is complete."""

    def rows(self, rows: Sequence[str]) -> None:
        """Show the result of a command, one line per row."""

    def note(self, text: str) -> None:
        """Show a note in one line."""

    def error(self, text: str) -> None:
        """Show an error in one line."""

    def clear(self) -> None:
        """Clear the screen, if there is one."""


class Plain:
    """Plain text: answers and lists on standard output, notes and errors on standard error."""

    @contextmanager
    def answering(self, question: str) -> Iterator[Show]:
        """See Display."""
        shown: list[str] = []

        def show(piece: str) -> None:
            shown.append(piece)
            _write(inert(piece))

        try:
            yield show
        finally:
            if shown and not shown[-1].endswith("\n"):
                _write("\n")

    def complete(self, answer: Answer, conversation_id: str | None) -> None:
        """See Display."""

    def rows(self, rows: Sequence[str]) -> None:
        """See Display."""
        _write("".join(f"{inert(row)}\n" for row in rows))

    def note(self, text: str) -> None:
        """See Display."""
        note(text)

    def error(self, text: str) -> None:
        """See Display."""
        note(f"mnemoir: {text}")

    def clear(self) -> None:
        """See Display."""


class JsonLines(Plain):
    """One line of JSON for each complete answer and each list; notes and errors go to standard error."""

    @contextmanager
    def answering(self, question: str) -> Iterator[Show]:
        """See Display. Shows nothing: `complete` prints the answer."""
        yield lambda piece: None

    def complete(self, answer: Answer, conversation_id: str | None) -> None:
        """See Display."""
        told = {"conversation_id": conversation_id, "model": answer.model}
        _write_json({**told, "reply": answer.text, "finish_reason": answer.reason})

    def rows(self, rows: Sequence[str]) -> None:
        """See Display."""
        _write_json({"lines": rows})


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _write_json(told: object) -> None:
    _write(orjson.dumps(told, option=orjson.OPT_APPEND_NEWLINE).decode())
