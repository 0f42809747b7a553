"""Messages from a pipe or a file, one a line."""

import asyncio
import sys
import threading
from collections.abc import Collection
from contextlib import suppress
from typing import Protocol

from mnemoir.cli.output import note


class Input(Protocol):
    """Where messages and commands come from."""

    async def read(self) -> str | None:
        """The next message; None when there will be none."""

    async def confirm(self, question: str) -> bool:
        """Whether that is to be done; not, when nobody answers."""

    def forget(self, texts: Collection[str]) -> None:
        """Keep none of these texts for later chats. Raises StorageUnavailable."""


class Piped:
    """Standard input. Each line is waited for by a daemon thread, for nothing else can end such a wait."""

    def __init__(self) -> None:
        # without a buffer, which a thread that still waits at the end of the process would hold locked
        self._source = open(sys.stdin.fileno(), "rb", buffering=0, closefd=False)  # noqa: SIM115 - it is not ours to close

    async def read(self) -> str | None:
        """See Input."""
        loop = asyncio.get_running_loop()
        coming: asyncio.Future[bytes] = loop.create_future()

        def arrived(line: bytes) -> None:
            if not coming.done():
                coming.set_result(line)

        def wait() -> None:
            line = self._source.readline()
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(arrived, line)

        threading.Thread(target=wait, name="wait for a line", daemon=True).start()
        line = await coming
        return line.decode("utf-8", "replace").rstrip("\r\n") if line else None

    async def confirm(self, question: str) -> bool:
        """See Input; the next line is the answer."""
        note(f"{question} [y/N]")
        return is_yes(await self.read() or "")

    def forget(self, texts: Collection[str]) -> None:
        """See Input; none was kept."""


def is_yes(answer: str) -> bool:
    """Whether somebody agreed."""
    return answer.strip().lower() in ("y", "yes")


_: type[Input] = Piped  # checked, never run
