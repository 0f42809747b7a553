"""A reply drawn as Markdown while it grows.

Blocks that nothing more can change are printed once and stay; only the last block is drawn again with each piece.
So nothing flickers, and a reply may be longer than the screen. When the terminal gets another size, what stood on the
screen is scrolled away and the reply drawn anew, for terminals differ in what they do with lines that no longer fit.
"""

import asyncio
from time import perf_counter

from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.live import Live
from rich.markdown import Markdown
from rich.segment import Segment
from rich.text import Text

from mnemoir.cli.chat.inert import inert

_PAUSE_S = 1 / 15  # between two drawings
_SHARE = 4  # drawing may take a quarter of the time: a block of a hundred pages is drawn less often
_WAITING = Text("…", style="dim")


class GrowingReply:
    """One reply on a terminal, begun when it is made; call it inside the event loop."""

    def __init__(self, console: Console, question: str) -> None:
        self._console = console
        self._question = question
        self._text = ""
        self._printed = 0  # characters of the text in blocks that stay
        self._pause_s = _PAUSE_S
        self._drawing: asyncio.TimerHandle | None = None
        self._end = _End()
        self._live = self._begun()

    def add(self, piece: str) -> None:
        """Show more words, soon."""
        self._text += inert(piece)
        if self._drawing is None:
            self._drawing = asyncio.get_running_loop().call_later(self._pause_s, self._draw)

    def resized(self) -> None:
        """Draw all of it again, in a terminal of another size."""
        self._live.stop()
        self._console.line(self._console.height)  # what was there can still be scrolled to
        self._console.clear()
        self._console.print(Text(f"> {self._question}", style="dim"))
        self._printed, self._end.text = 0, ""
        self._live = self._begun()
        self._draw()

    def end(self) -> None:
        """Print what is left; it stays."""
        self._undraw()
        rest = self._text[self._printed :]
        self._end.text = None
        try:
            if rest.strip():
                self._print(rest)
        finally:
            self._live.stop()

    def _begun(self) -> Live:
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
        """Forget the drawing that is to come."""
        if self._drawing is not None:
            self._drawing.cancel()
            self._drawing = None

    def _print(self, text: str) -> None:
        """Above the part that is drawn again, in one write with it."""
        self._console.print(Group(_markdown(text), ""))


class _End:
    """The last rows of `text`, as many as the screen has room for; with None there is nothing more to come.

    One object for the whole reply: `Live` draws the same one again with all that is printed above it.
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
    """How many characters of a Markdown text, from its beginning, are blocks that no further text can change.

    These are all blocks but the last one. A line that is not ended counts for nothing: it may still turn out to go on
    with the block before it.
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
    return Markdown(text, hyperlinks=False)  # an address is shown, so that nobody is led elsewhere unseen
