"""Logging: few events with fields, to standard error, plain for people or JSON for machines."""

import logging
import sys
from typing import TextIO

import structlog
from structlog.typing import Processor

from mnemoir.settings import Log


def set_up(settings: Log, stream: TextIO | None = None) -> None:
    """Send every log line to `stream` (standard error by default) in the form the settings name.

    Exceptions are written without local variables: those may hold a key or a person's words.
    """
    target = stream or sys.stderr
    level = logging.getLevelNamesMapping()[settings.level.upper()]
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *_form(settings.format, target),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(target),
        cache_logger_on_first_use=False,  # tests and the CLI set up more than once
    )
    logging.basicConfig(level=max(level, logging.WARNING), stream=target, force=True)


def _form(name: str, target: TextIO) -> list[Processor]:
    if name == "json":
        return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    plain = structlog.dev.plain_traceback  # the rich one prints local variables
    return [structlog.dev.ConsoleRenderer(colors=target.isatty(), exception_formatter=plain)]
