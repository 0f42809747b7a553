"""Communication with a module's process over pipes: sends the call, reads the answer and the printed output."""

import os
import selectors
from collections.abc import Callable
from io import FileIO
from time import monotonic
from types import TracebackType
from typing import Final, Literal, Self

Cause = Literal["answered", "ended", "timeout", "stopped", "printed_too_much", "answered_too_much"]

_LEAVING_S: Final = 1.0  # time for the process to end by itself after its answer
_LOOK_S: Final = 0.2  # interval of checks that the process is alive, while its own child holds the pipes open
_READ_BYTES: Final = 64 * 1024
_KEPT_BYTES: Final = 8 * 1024  # of the printed output


class Pipes:
    """The pipes of one process, watched together so that none fills up while another is read."""

    def __init__(
        self, pid: int, calls: FileIO, answers: FileIO, prints: FileIO, woken: FileIO, *, most_bytes: int
    ) -> None:
        self.answer = bytearray()
        self.printed = bytearray()  # the first `_KEPT_BYTES` of the printed output
        self._pid = pid
        self._calls = calls
        self._most_bytes = most_bytes
        self._printed_bytes = 0
        self._unsent = memoryview(b"")
        self._cause: Cause | None = None
        self._is_over = False
        self._selector = selectors.DefaultSelector()
        self._watch(answers, lambda: self._take_answer(answers))
        self._watch(prints, lambda: self._take_prints(prints))
        self._watch(woken, lambda: self._end("stopped"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None) -> None:
        self._selector.close()

    def exchange(self, call: bytes, timeout_s: float) -> Cause:
        """Send the call and read until the process has answered or ended, or the time is up. Returns the cause."""
        self._unsent = memoryview(call)
        self._watch(self._calls, self._feed, selectors.EVENT_WRITE)
        end_at = monotonic() + timeout_s
        while not self._is_over:
            self._listen(end_at - monotonic())
            if self._cause is not None:
                end_at = min(end_at, monotonic() + _LEAVING_S)
        assert self._cause is not None  # `_end` sets both
        return self._cause

    def _watch(self, pipe: FileIO, act: Callable[[], None], event: int = selectors.EVENT_READ) -> None:
        os.set_blocking(pipe.fileno(), False)
        self._selector.register(pipe, event, act)

    def _listen(self, left_s: float) -> None:
        if left_s <= 0:
            self._end("timeout")
            return
        ready = self._selector.select(min(left_s, _LOOK_S))
        for key, _ in ready:
            key.data()
        if not ready and _is_dead(self._pid):
            self._end("ended")

    def _end(self, cause: Cause) -> None:
        """Stop reading. The first cause counts, because a process that has answered also ends."""
        self._cause = self._cause or cause
        self._is_over = True

    def _feed(self) -> None:
        try:
            sent = self._calls.write(self._unsent[:_READ_BYTES])
        except BrokenPipeError:
            sent = len(self._unsent)  # the process has ended; reading its answer reports it
        self._unsent = self._unsent[sent or 0 :]
        if not self._unsent:
            self._selector.unregister(self._calls)  # stays open: closing it would end the process

    def _take_answer(self, pipe: FileIO) -> None:
        piece = pipe.read(_READ_BYTES)
        if piece == b"":
            self._end("ended")
        if not piece or self._cause is not None:
            return
        self.answer += piece
        if len(self.answer) > self._most_bytes:
            self._end("answered_too_much")
        elif piece.endswith(b"\n"):  # the only newline: JSON escapes all others
            self._cause = "answered"

    def _take_prints(self, pipe: FileIO) -> None:
        piece = pipe.read(_READ_BYTES)
        if piece == b"":
            self._selector.unregister(pipe)
        if not piece:
            return
        self.printed += piece[: _KEPT_BYTES - len(self.printed)]
        self._printed_bytes += len(piece)
        if self._printed_bytes > self._most_bytes:
            self._end("printed_too_much")


def _is_dead(pid: int) -> bool:
    """True when the process has ended. It is not reaped, because its group is still to be killed by its number."""
    if not hasattr(os, "waitid"):  # older Macs; there the time limit ends the call
        return False
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
