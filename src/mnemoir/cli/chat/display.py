"""Where a chat is shown. Here: for pipes, as plain text or as JSON lines; a terminal is in `terminal`."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

import orjson

from mnemoir.cli.chat.inert import inert
from mnemoir.cli.chat.replies import Answer
from mnemoir.cli.output import note


class Show(Protocol):
    """Shows the next words of an answer."""

    def __call__(self, piece: str) -> None: ...


class Display(Protocol):
    """What a person, or a program, gets to see."""

    @contextmanager
    def answering(self, question: str) -> Iterator[Show]:
        """The place of one answer; it ends with the context, complete or not."""
        ...  # pragma: no cover

    def complete(self, answer: Answer, conversation_id: str | None) -> None:
        """The answer that was shown last is complete."""

    def rows(self, rows: Sequence[str]) -> None:
        """What was asked for, a line each."""

    def note(self, text: str) -> None:
        """What was done, in a line."""

    def error(self, text: str) -> None:
        """What went wrong, in a line."""

    def clear(self) -> None:
        """Empty the screen, where there is one."""


class Plain:
    """Answers and lists to standard output, all else to standard error."""

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
    """A JSON object for each complete answer and each list, a line each; what is no answer goes to standard error."""

    @contextmanager
    def answering(self, question: str) -> Iterator[Show]:
        """See Display; the answer is shown when it is complete."""
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
