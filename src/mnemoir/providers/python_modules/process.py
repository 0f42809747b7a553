"""The child process of one module call: its start, and its end together with all processes that it started.

Any environment variable may hold a key, because settings can name any of them. So a module gets only variables that
are known to hold none.

Everything here blocks and runs in one thread, which alone uses the process; only `stop` is called from others. The
process leads a process group, which is killed after the call, also after a failure. So processes that a module
leaves running are ended too, unless they created a group of their own.
"""

import os
import selectors
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Final, Literal, Self

from mnemoir.providers.python_modules import child

_PASSED = frozenset(
    {
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "SHELL",
        "LANG",
        "LANGUAGE",
        "TZ",
        "TMPDIR",
        "LD_LIBRARY_PATH",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "REQUESTS_CA_BUNDLE",
        "OPENBLAS_NUM_THREADS",
        "MCPO_URL",
    }
)
OWN_PREFIX = "MODULE_"  # of variables that an operator sets for modules
Cause = Literal["answered", "ended", "timeout", "stopped", "printed_too_much", "answered_too_much"]

_LEAVING_S: Final = 1.0  # time for the process to end by itself after its answer
_LOOK_S: Final = 0.2  # interval of checks that the process is alive, while its own child holds the pipes open
_READ_BYTES: Final = 64 * 1024
_KEPT_BYTES: Final = 8 * 1024  # of the printed output


def module_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables above, those of the locale, and all that begin with MODULE_."""
    return {name: value for name, value in environ.items() if name in _PASSED or name.startswith((OWN_PREFIX, "LC_"))}


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessEnd:
    """The end of a process. `answer` is one line when the cause is `answered`; `status` is as in subprocess."""

    cause: Cause
    answer: bytes = b""
    printed: bytes = b""
    status: int = 0


class ModuleProcess:
    """A process for one call. `most_bytes` limits its answer and, separately, its printed output."""

    def __init__(self, *, timeout_s: float, most_bytes: int) -> None:
        self._timeout_s = timeout_s
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._wake: FileIO | None = None
        self._is_stopped = False

    def stop(self) -> None:
        """End the process as soon as possible, or prevent its start. Any thread may call this, repeatedly."""
        with self._lock:
            self._is_stopped = True
            if self._wake is not None:
                self._wake.write(b"!")

    def run(self, call: bytes, *, environment: Mapping[str, str], directory: Path) -> ProcessEnd:
        """Send the call, one line, and wait for the end. Raises OSError when no process can be started."""
        with ExitStack() as opened:
            woken, wake = _pipe(opened)
            with self._lock:
                if self._is_stopped:
                    return ProcessEnd(cause="stopped")
                self._wake = wake
            opened.callback(self._forget_wake)
            return self._exchange(call, woken, environment, directory)

    def _exchange(self, call: bytes, woken: FileIO, environment: Mapping[str, str], directory: Path) -> ProcessEnd:
        with ExitStack() as opened:
            calls, call_end = _pipe(opened)
            answer_end, answers = _pipe(opened)
            process = _start(calls, answers, environment, directory)
            opened.callback(_end, process)
            calls.close()
            answers.close()
            assert isinstance(process.stdout, FileIO)  # from `stdout=PIPE` and `bufsize=0`
            pipes = opened.enter_context(
                Pipes(process.pid, call_end, answer_end, process.stdout, woken, most_bytes=self._most_bytes)
            )
            cause = pipes.exchange(call, self._timeout_s)
        return ProcessEnd(
            cause=cause, answer=bytes(pipes.answer), printed=bytes(pipes.printed), status=process.returncode
        )

    def _forget_wake(self) -> None:
        with self._lock:
            self._wake = None


def _pipe(opened: ExitStack) -> tuple[FileIO, FileIO]:
    """The reading and the writing end, both without a buffer."""
    reading, writing = os.pipe()
    return opened.enter_context(FileIO(reading, "r")), opened.enter_context(FileIO(writing, "w"))


def _start(
    calls: FileIO, answers: FileIO, environment: Mapping[str, str], directory: Path
) -> subprocess.Popen[bytes]:
    descriptors = (calls.fileno(), answers.fileno())
    # isolated from the user's Python settings, no bytecode files beside the user's modules, unbuffered output
    interpreter = [sys.executable, "-I", "-B", "-u", "-X", "utf8"]
    return subprocess.Popen(
        [*interpreter, child.__file__, *map(str, descriptors)],
        bufsize=0,
        cwd=directory,
        env=dict(environment),
        pass_fds=descriptors,
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the group, then reap its leader: after that the system may reuse the number."""
    with suppress(ProcessLookupError, PermissionError):  # macOS gives the latter for a group of ended processes
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdout is not None:
        process.stdout.close()
