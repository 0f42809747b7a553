"""The child process of one module call: its start, and its end together with all processes that it started.

Everything here blocks and runs in one thread, which alone uses the process; only `stop` is called from others. The
process leads a process group, which is killed after the call, also after a failure. So processes that a module
leaves running are ended too, unless they created a group of their own.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

from mnemoir.providers.python_modules import child
from mnemoir.providers.python_modules.pipes import Cause, Pipes


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
