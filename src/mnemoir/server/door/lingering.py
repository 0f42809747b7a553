"""Closing a connection whose client is still sending, so that it reads the answer.

A socket that is closed with unread data in it is reset, and the reset throws away the answer on its way. So such a
connection is closed for writing only, what still comes is dropped, and the rest is closed when the client has ended
or its time is up.
"""

import asyncio
from collections.abc import Callable
from typing import Any


class LingeringTransport:
    """A transport whose `close` waits for the client where `is_unread` says that its request has not come whole."""

    def __init__(self, transport: asyncio.Transport, is_unread: Callable[[], bool]) -> None:
        self._transport = transport
        self._is_unread = is_unread
        self.is_lingering = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def is_closing(self) -> bool:
        """True when no more is written, though a client may still be sending."""
        return self.is_lingering or self._transport.is_closing()

    def close(self) -> None:
        """Close it, at once or when the client has ended; a second call closes it at once."""
        if self.is_lingering or self._transport.is_closing() or not self._is_unread():
            self.close_now()
            return
        self.is_lingering = True
        self._transport.resume_reading()
        self._transport.write_eof()

    def close_now(self) -> None:
        """Close it without waiting."""
        self._transport.close()
