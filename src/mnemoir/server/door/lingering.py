"""Closing a connection whose client is still sending, so that it reads the answer.

A socket that is closed with unread data in it is reset, and the reset throws away the answer on its way. So such a
connection is closed for writing only, what still comes is dropped, and the rest is closed when the client has ended
or its time is up.
"""

import asyncio
from collections.abc import Callable
from typing import Any

_MOST_HELD = 64 * 1024  # bytes; more is written at once, so that a fast sender has to wait for a slow reader


class LingeringTransport:
    """A transport whose `close` waits for the client where `is_unread` says that its request has not come whole."""

    def __init__(self, transport: asyncio.Transport, is_unread: Callable[[], bool]) -> None:
        self._transport = transport
        self._is_unread = is_unread
        self._held: list[bytes] = []
        self._held_bytes = 0
        self._loop = asyncio.get_running_loop()
        self.is_lingering = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Write it together with what else is written in this round of the loop, such as an answer's head and body.

        Each write of its own would be a call of the system, which costs as much as all layers of the door.
        """
        self._held.append(data)
        self._held_bytes += len(data)
        if self._held_bytes > _MOST_HELD:
            self._flush()
        elif len(self._held) == 1:
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        held, self._held, self._held_bytes = self._held, [], 0
        if held and not self._transport.is_closing():
            self._transport.write(held[0] if len(held) == 1 else b"".join(held))

    def is_closing(self) -> bool:
        """True when no more is written, though a client may still be sending."""
        return self.is_lingering or self._transport.is_closing()

    def close(self) -> None:
        """Close it, at once or when the client has ended; a second call closes it at once."""
        if self.is_lingering or self._transport.is_closing() or not self._is_unread():
            self.close_now()
            return
        self.is_lingering = True
        self._flush()
        self._transport.resume_reading()
        self._transport.write_eof()

    def close_now(self) -> None:
        """Close it without waiting."""
        self._flush()
        self._transport.close()
