"""The screen of the terminal chat, drawn by a terminal emulator, also after a resize."""

from contextlib import contextmanager

import pyte
import pytest

from tests.cli.chat_server import told
from tests.cli.chat_terminal import ENTER, chatting
from tests.scripted_llm import Answer

pytestmark = pytest.mark.costly("a program on a terminal")


class Screen:
    """A terminal emulator that draws the output of a chat and keeps scrolled lines."""

    def __init__(self, rows, columns):
        self._screen = pyte.HistoryScreen(columns, rows, history=10_000, ratio=0.5)
        self._stream = pyte.Stream(self._screen)

    def write(self, text):
        """As pexpect tells what it read."""
        self._stream.feed(text)

    def flush(self):
        """Nothing waits."""

    def resize(self, rows, columns):
        """The lines that are there are cut, as some terminals do it."""
        self._screen.resize(rows, columns)

    @property
    def rows(self):
        """What is on it now, without what follows the last words."""
        return [row.rstrip() for row in self._screen.display]

    @property
    def text(self):
        """All there ever was, from the top, in words."""
        scrolled = ["".join(row[at].data for at in sorted(row)) for row in self._screen.history.top]
        return " ".join(" ".join([*scrolled, *self.rows]).split())


@contextmanager
def watched(served, user, home, rows=24, columns=80):
    """A chat and its screen."""
    environment = served.environment
    with chatting("--user", user, home=home, environment=environment, rows=rows, columns=columns) as terminal:
        screen = Screen(rows, columns)
        terminal.child.logfile_read = screen
        yield terminal, screen


WORDS = [f"word{n}" for n in range(60)]


@pytest.mark.slow
def test_a_reply_is_drawn_anew_when_the_terminal_becomes_narrower(served, llm, user, tmp_path):
    llm.queue(Answer(text=" ".join(WORDS), stall_after=50))
    with watched(served, user, tmp_path) as (terminal, screen):
        terminal.say("Talk.")
        terminal.see("word49")
        screen.resize(20, 40)
        terminal.child.setwinsize(20, 40)
        terminal.see(r"\x1b\[2J")
        terminal.see("word49")
        llm.release()
        terminal.see("word59")
        terminal.see_prompt()
        terminal.type("next")
        terminal.see("next")
        drawn = [row for row in screen.rows if row]
    assert drawn[0] == "> Talk."
    assert " ".join(drawn[1:-1]).split() == WORDS
    assert drawn[-1] == "> next"


@pytest.mark.slow
def test_a_reply_is_drawn_anew_when_the_terminal_becomes_wider(served, llm, user, tmp_path):
    llm.queue(Answer(text=" ".join(WORDS), stall_after=50))
    with watched(served, user, tmp_path, columns=40) as (terminal, screen):
        terminal.say("Talk.")
        terminal.see("word49")
        screen.resize(24, 100)
        terminal.child.setwinsize(24, 100)
        terminal.see(r"\x1b\[2J")
        terminal.see("word49")
        llm.release()
        terminal.see("word59")
        terminal.see_prompt()
        drawn = [row for row in screen.rows if row]
    assert " ".join(drawn[1:]).split()[:60] == WORDS
    assert max(map(len, drawn)) > 40


@pytest.mark.slow
def test_a_typed_line_survives_a_resize(served, llm, user, tmp_path):
    with watched(served, user, tmp_path) as (terminal, screen):
        terminal.type("half a ")
        terminal.see("half a")
        screen.resize(20, 50)
        terminal.child.setwinsize(20, 50)
        terminal.type("thought" + ENTER)
        terminal.see("Understood.")
        terminal.see_prompt()
        assert screen.text.count("half a thought") == 1
    assert told(llm)[0][-1] == "half a thought"


@pytest.mark.slow
def test_a_reply_longer_than_the_screen_appears_once_and_complete(served, llm, user, tmp_path):
    blocks = [f"Paragraph {n} of it." for n in range(50)]
    code = "```\n" + "\n".join(f"line {n}" for n in range(60)) + "\n```"
    llm.queue(Answer(text="\n\n".join([*blocks, code, "The end."]), stall_after=300))
    with watched(served, user, tmp_path) as (terminal, screen):
        terminal.say("Talk.")
        terminal.see("line 2")
        llm.release()
        terminal.see("The end.")
        terminal.see_prompt()
        text = screen.text
    expected = " ".join([*blocks, *(f"line {n}" for n in range(60)), "The end."])
    assert text.count(expected) == 1
    assert text.count("Paragraph 7 of it.") == 1
