"""A disk that lets calls of the operating system's file functions fail, or files grow only so far."""

import errno
import os
import resource
from contextlib import contextmanager
from functools import partial
from pathlib import Path

_CALLS = ["open", "mkdir", "stat", "write", "fsync", "fchmod", "replace", "unlink", "ftruncate"]


class FaultyFiles:
    """Notes each call with the name of its file in `seen`; the call number `failing` fails, from 1; 0 is never.

    With `strike` that is called in front of the call, which then goes on.
    """

    def __init__(self, monkeypatch):
        self.arm(0)
        for name in _CALLS:
            monkeypatch.setattr(os, name, self._noted(name, getattr(os, name)))

    def arm(self, failing, error=errno.EIO, *, strike=None):
        self.seen, self.failing, self._strike = [], failing, strike or partial(_fail, error)

    def disarm(self):
        """Whether a call failed."""
        failing, self.failing = self.failing, 0
        return 0 < failing <= len(self.seen)

    def _noted(self, name, call):
        def noted(*args, **kwargs):
            self.seen.append((name, _subject(name, args)))
            if len(self.seen) == self.failing:
                self._strike()
            return call(*args, **kwargs)

        return noted


def _fail(error):
    raise OSError(error, os.strerror(error))


def _subject(name, args):
    at = args[1] if name == "replace" else args[0]
    return Path(os.readlink(f"/proc/self/fd/{at}") if isinstance(at, int) else at).name


@contextmanager
def files_up_to(size):
    """The operating system refuses to let any file of this process grow further, and writes a part before."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
