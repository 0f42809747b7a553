"""The output of a chat on a terminal: answers as Markdown while they arrive, notes and errors in colours.

Finished blocks are printed once; only the last block is drawn again with each piece. So nothing flickers, and a reply
may be longer than the screen. When the terminal is resized, the screen is scrolled away and the reply drawn anew,
because terminals differ in how they wrap existing lines.
"""

import asyncio
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from time import perf_counter

from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.live import Live
from rich.markdown import Markdown
from rich.segment import Segment
from rich.text import Text

from mnemoir.cli.chat.conversation import Answer
from mnemoir.cli.chat.display import Display, Show, inert

_PAUSE_S = 1 / 15  # minimal time between two drawings
_SHARE = 4  # drawing takes at most a quarter of the time: a block of a hundred pages is drawn less often
_WAITING = Text("…", style="dim")


class GrowingReply:
    """One reply on a terminal. Drawing starts with the constructor; use it inside the event loop."""

    def __init__(self, console: Console, question: str) -> None:
        self._console = console
        self._question = question
        self._text = ""
        self._printed = 0  # characters of the text in finished, printed blocks
        self._pause_s = _PAUSE_S
        self._drawing: asyncio.TimerHandle | None = None
        self._end = _End()
        self._live = self._start_live()

    def add(self, piece: str) -> None:
        """Add text; it is drawn within `_PAUSE_S`, later when drawing is slow."""
        self._text += inert(piece)
        if self._drawing is None:
            self._drawing = asyncio.get_running_loop().call_later(self._pause_s, self._draw)

    def redraw(self) -> None:
        """Draw the whole reply again after the terminal was resized."""
        self._live.stop()
        self._console.line(self._console.height)  # the old screen stays in the scroll-back
        self._console.clear()
        self._console.print(Text(f"> {self._question}", style="dim"))
        self._printed, self._end.text = 0, ""
        self._live = self._start_live()
        self._draw()

    def end(self) -> None:
        """Print the rest and stop drawing."""
        self._undraw()
        rest = self._text[self._printed :]
        self._end.text = None
        try:
            if rest.strip():
                self._print(rest)
        finally:
            self._live.stop()

    def _start_live(self) -> Live:
        live = Live(self._end, console=self._console, auto_refresh=False, transient=True, redirect_stdout=False)
        live.start(refresh=True)
        return live

    def _draw(self) -> None:
        began = perf_counter()
        self._undraw()
        rest = self._text[self._printed :]
        length = finished_blocks(rest)
        self._printed += length
        self._end.text = rest[length:]
        if length:
            self._print(rest[:length])
        else:
            self._live.refresh()
        self._pause_s = max(_PAUSE_S, _SHARE * (perf_counter() - began))

    def _undraw(self) -> None:
        """Cancel the scheduled drawing."""
        if self._drawing is not None:
            self._drawing.cancel()
            self._drawing = None

    def _print(self, text: str) -> None:
        """Print above the part that is drawn again, in one write with it."""
        self._console.print(Group(_markdown(text), ""))


class _End:
    """The last rows of `text` that fit on the screen; nothing when `text` is None, after the end.

    One object serves the whole reply, because `Live` draws it again after each print above it.
    """

    def __init__(self) -> None:
        self.text: str | None = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.text is None:
            return
        shown = _markdown(self.text) if self.text.strip() else _WAITING
        for row in console.render_lines(shown, options, pad=False)[-max(1, options.size.height - 2) :]:
            yield from row
            yield Segment.line()


def finished_blocks(text: str) -> int:
    """The number of characters, from the beginning, in Markdown blocks that further text cannot change.

    These are all blocks but the last one. An unfinished line is ignored, because it may belong to the block before.
    """
    whole = text[: text.rfind("\n") + 1]
    starts = [
        token.map[0] for token in _markdown(whole).parsed if token.map and not token.level and token.nesting >= 0
    ]
    if len(starts) < 2:
        return 0
    lines = whole.split("\n")[: starts[-1]]
    return sum(map(len, lines)) + len(lines)


def _markdown(text: str) -> Markdown:
    return Markdown(text, hyperlinks=False)  # addresses stay visible, so that no link hides its target


class Terminal:
    """Display on a terminal; everything goes to standard output."""

    def __init__(self) -> None:
        self._console = Console(highlight=False, markup=False, emoji=False)

    @contextmanager
    def answering(self, question: str) -> Iterator[Show]:
        """See Display."""
        with without_echo():
            reply = GrowingReply(self._console, question)
            try:
                with _told_of_resizes(reply.redraw):
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
def without_echo() -> Iterator[None]:
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
