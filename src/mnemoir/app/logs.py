"""Logging: events with fields, written to standard error and optionally a file, as plain text or JSON.

Log records of libraries are written the same way. To keep a client from filling the disk with one repeated line, the
number of lines of one event within a period is limited; one more line counts the rest.
"""

import logging
import os
import re
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from time import monotonic
from typing import TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from mnemoir.core.errors import SettingsError
from mnemoir.settings import Log

LOG_FILE = "mnemoir.log"
_FILE_BYTES = 3 * 2**20
_OLDER_FILES = 6
_WHILE_S = 10.0
_MOST_LINES = 500  # of one event in that period: enough for a burst
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")

_log = structlog.get_logger(__name__)


def set_up(settings: Log, stream: TextIO | None = None, directory: Path | None = None) -> None:
    """Send every log line to `stream` (standard error by default) in the form the settings name.

    With a directory also to a private `mnemoir.log` in it, of which the last 21 MiB are kept. Exceptions are
    written without local variables: those may hold a key or a person's words. Raises SettingsError for a directory
    that cannot be written to.
    """
    target = stream or sys.stderr
    file = None if directory is None else _file_in(directory)
    level = logging.getLevelNamesMapping()[settings.level.upper()]
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            Flood(),
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *_form(settings.format, target),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=lambda *_: _Lines(target, file),
        cache_logger_on_first_use=False,  # tests and the CLI set up more than once
    )
    logging.basicConfig(level=max(level, logging.WARNING), handlers=[_Forwarding(file)], force=True)


class Flood:
    """Drops surplus lines of one event; the first line of the next period reports how many were dropped."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self._ends = 0.0
        self._seen: dict[str, int] = {}

    def __call__(self, logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
        """A processor of structlog. Raises DropEvent."""
        now = self._now()
        if now >= self._ends:
            self._begin(now)
        name = str(event.get("event"))
        count = self._seen[name] = self._seen.get(name, 0) + 1
        if count > _MOST_LINES:
            raise structlog.DropEvent
        return event

    def _begin(self, now: float) -> None:
        seen, self._seen, self._ends = self._seen, {}, now + _WHILE_S
        for name, count in list(seen.items()):
            if count > _MOST_LINES:
                _log.warning("lines like this were left out", like=name, count=count - _MOST_LINES)


class _Forwarding(logging.Handler):
    """Turns library log records into events named after their loggers. Owns the file: the next set-up closes both."""

    def __init__(self, file: "_PrivateFile | None") -> None:
        super().__init__()
        self._file = file

    def emit(self, record: logging.LogRecord) -> None:
        exception = {"exc_info": record.exc_info} if record.exc_info else {}
        level = min(record.levelno // 10 * 10, logging.CRITICAL)
        try:
            structlog.get_logger().log(level, record.name, message=record.getMessage(), **exception)
        except Exception:  # noqa: BLE001 - as every handler: a line that cannot be written fails nobody's work
            self.handleError(record)

    def close(self) -> None:
        super().close()
        if self._file is not None:
            self._file.close()


class _Lines:
    """Writes finished lines to a stream and perhaps a file. Errors of a stream on a full disk are ignored."""

    def __init__(self, stream: TextIO, file: "_PrivateFile | None") -> None:
        self._stream = structlog.PrintLogger(stream)
        self._file = file

    def msg(self, line: str) -> None:
        with suppress(OSError):
            self._stream.msg(line)
        if self._file is not None:
            self._file.handle(logging.LogRecord("", logging.INFO, "", 0, _COLOUR.sub("", line), None, None))

    log = debug = info = warning = error = critical = exception = msg


class _PrivateFile(RotatingFileHandler):
    """A rotating log file that only its owner may read, as well as its older parts."""

    def _open(self) -> TextIOWrapper:
        descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        if stat.S_ISREG(os.fstat(descriptor).st_mode):  # the name may be a device, whose mode stays
            os.fchmod(descriptor, 0o600)
        return open(descriptor, "a", encoding="utf-8", errors="backslashreplace")

    def handleError(self, record: logging.LogRecord) -> None:
        """Ignore the error: the disk is full or the directory gone, and the stream has the line."""


def _file_in(directory: Path) -> _PrivateFile:
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        return _PrivateFile(directory / LOG_FILE, maxBytes=_FILE_BYTES, backupCount=_OLDER_FILES)
    except OSError as exc:
        raise SettingsError(
            f"The log directory {directory} cannot be written to: {exc.strerror or exc}. Choose another one."
        ) from exc


def _form(name: str, target: TextIO) -> list[Processor]:
    if name == "json":
        return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    plain = structlog.dev.plain_traceback  # the rich one prints local variables
    return [structlog.dev.ConsoleRenderer(colors=target.isatty(), exception_formatter=plain)]
