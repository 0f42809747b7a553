"""The input of a chat: its interface, and messages from a pipe or a file, one per line."""

import asyncio
import sys
import threading
from collections.abc import Collection
from contextlib import suppress
from typing import Protocol

from mnemoir.cli.output import note


class Input(Protocol):
    """The source of messages and commands."""

    async def read(self) -> str | None:
        """The next message; None at the end of the input."""

    async def confirm(self, question: str) -> bool:
        """True when the user agrees; False for any other answer or none."""

    def forget(self, texts: Collection[str]) -> None:
        """Delete these texts from the lines stored for later chats. Raises StorageUnavailable."""

    def tell(self, line: str) -> None:
        """Show a line to a person who is about to type: above what is typed, or before it begins."""


class PipedInput:
    """Standard input. A daemon thread waits for each line, because such a wait cannot be cancelled."""

    def __init__(self) -> None:
        # unbuffered: a thread that still waits when the process ends would hold the buffer's lock
        self._source = open(sys.stdin.fileno(), "rb", buffering=0, closefd=False)  # noqa: SIM115 - we must not close it

    async def read(self) -> str | None:
        """See Input."""
        loop = asyncio.get_running_loop()
        coming: asyncio.Future[bytes] = loop.create_future()

        def take_line(line: bytes) -> None:
            if not coming.done():
                coming.set_result(line)

        def wait() -> None:
            line = self._source.readline()
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(take_line, line)

        threading.Thread(target=wait, name="wait for a line", daemon=True).start()
        line = await coming
        return line.decode("utf-8", "replace").rstrip("\r\n") if line else None

    async def confirm(self, question: str) -> bool:
        """See Input. The next line is the answer."""
        note(f"{question} [y/N]")
        return is_yes(await self.read() or "")

    def forget(self, texts: Collection[str]) -> None:
        """See Input. Does nothing: no line is stored."""

    def tell(self, line: str) -> None:
        """See Input. Does nothing: nobody types."""


def is_yes(answer: str) -> bool:
    """True for "y" and "yes"."""
    return answer.strip().lower() in ("y", "yes")


_: type[Input] = PipedInput  # checked, never run
