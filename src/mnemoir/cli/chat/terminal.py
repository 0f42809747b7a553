"""The output of a chat on a terminal: answers as Markdown while they arrive, notes and errors in colours."""

import asyncio
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from rich.console import Console
from rich.text import Text

from mnemoir.cli.chat.conversation import Answer
from mnemoir.cli.chat.display import Display, Show, inert
from mnemoir.cli.chat.growing import GrowingReply


class Terminal:
    """Display on a terminal; everything goes to standard output."""

    def __init__(self) -> None:
        self._console = Console(highlight=False, markup=False, emoji=False)

    @contextmanager
    def answering(self, question: str) -> Iterator[Show]:
        """See Display."""
        with unechoed():
            reply = GrowingReply(self._console, question)
            try:
                with _told_of_resizes(reply.resized):
                    yield reply.add
            finally:
                reply.end()

    def complete(self, answer: Answer, conversation_id: str | None) -> None:
        """See Display."""

    def rows(self, rows: Sequence[str]) -> None:
        """See Display."""
        for row in rows:
            self._line(row)

    def note(self, text: str) -> None:
        """See Display."""
        self._line(text, "dim")

    def error(self, text: str) -> None:
        """See Display."""
        self._line(text, "red")

    def clear(self) -> None:
        """See Display."""
        self._console.clear()

    def _line(self, text: str, style: str = "") -> None:
        self._console.print(Text(inert(text), style=style), soft_wrap=True)


@contextmanager
def unechoed() -> Iterator[None]:
    """Switch the terminal's echo off, so that typed text does not mix with an answer; the next prompt gets it."""
    try:
        import termios
    except ImportError:  # a system without termios, where typed text is shown
        yield
        return
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    silent = before.copy()
    silent[3] &= ~termios.ECHO
    termios.tcsetattr(terminal, termios.TCSANOW, silent)
    try:
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSANOW, before)


@contextmanager
def _told_of_resizes(tell: Callable[[], None]) -> Iterator[None]:
    resized = getattr(signal, "SIGWINCH", None)
    if resized is None:
        yield
        return
    loop = asyncio.get_running_loop()
    with suppress(NotImplementedError):
        loop.add_signal_handler(resized, tell)
    try:
        yield
    finally:
        loop.remove_signal_handler(resized)


_: type[Display] = Terminal  # checked, never run
