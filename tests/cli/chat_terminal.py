"""`mnemoir chat` in a real pseudo-terminal: typed input and shown output."""

import re
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pexpect

from tests.serving import clean_environment

ENTER, ALT_ENTER, TAB, UP = "\r", "\x1b\r", "\t", "\x1b[A"
INTERRUPT, END_OF_INPUT, ERASE_LINE = "\x03", "\x04", "\x15"
_PROMPT = re.escape("\x1b[?2004h")  # from here on pasted text is marked, which only an editor of lines asks for
_PATIENCE_S = 120  # it ends what hangs and measures nothing


class ChatTerminal:
    """One chat. What it shows is a stream with the terminal's own commands in it; `greeting` came first."""

    def __init__(self, child: pexpect.spawn) -> None:
        self.child = child
        self.greeting = ""

    def see(self, pattern: str) -> str:
        """Wait until the text is shown; all output up to its end."""
        self.child.expect(pattern)
        return str(self.child.before) + str(self.child.match[0])

    def see_prompt(self) -> str:
        """Wait for the prompt; all output until then."""
        return self.see(_PROMPT)

    def type(self, keys: str) -> None:
        """Press keys."""
        self.child.send(keys)

    def say(self, text: str) -> None:
        """Type a line and send it."""
        self.type(text + ENTER)

    def ask(self, command: str) -> str:
        """Send a line, and wait until it is done; what was shown, without the terminal's commands."""
        self.say(command)
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.see_prompt())

    def leave(self) -> int:
        """End the input; the exit code."""
        self.type(END_OF_INPUT)
        return self.ended()

    def ended(self) -> int:
        """Wait for the end; the exit code."""
        self.child.expect(pexpect.EOF)
        if self.child.isalive():  # its output has ended, and it is on its way out
            self.child.wait()
        self.child.close()
        return int(self.child.exitstatus)


@contextmanager
def chatting(
    *arguments: str, home: Path, environment: Mapping[str, str], rows: int = 40, columns: int = 100
) -> Iterator[ChatTerminal]:
    """A chat that waits for its first line."""
    kept = {
        name: value for name, value in clean_environment().items() if name not in ("COLUMNS", "LINES", "NO_COLOR")
    }
    terminal = {"TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1", "HOME": str(home)}
    child = pexpect.spawn(
        sys.executable,
        ["-m", "mnemoir", "chat", *arguments],
        env={**kept, **terminal, **environment},
        cwd=str(home),
        encoding="utf-8",
        dimensions=(rows, columns),
        timeout=_PATIENCE_S,
    )
    child.delaybeforesend = None
    chat = ChatTerminal(child)
    try:
        chat.greeting = chat.see_prompt()
        yield chat
    finally:
        if child.isalive():  # not `close(force=True)`, which gives the process a tenth of a second to end
            child.kill(signal.SIGKILL)
            child.wait()
        child.close()
