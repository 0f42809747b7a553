"""Loggers for modules. Texts of people and models are logged at level debug, whichever level a module asks for."""

import logging
from collections.abc import Callable
from typing import Any


def get_sensitive_logger(name: str) -> logging.Logger:
    """The logger of that name."""
    return logging.getLogger(name)


def is_encryption_active() -> bool:
    """False: discussions are not encrypted here."""
    return False


def sensitive_log(logger: logging.Logger, level: int, msg: str, *args: object, **kwargs: Any) -> None:
    """Log a message with private text in it. `level` is lowered to debug."""
    logger.log(min(level, logging.DEBUG), msg, *args, **kwargs)


def sensitive_log_lazy(logger: logging.Logger, level: int, msg: str, *arg_fns: Callable[[], object]) -> None:
    """The same with functions that return the arguments; they are called only when debug is logged."""
    if logger.isEnabledFor(min(level, logging.DEBUG)):
        sensitive_log(logger, level, msg, *(give() for give in arg_fns))


def log_prompt_content(logger: logging.Logger, label: str, content: str) -> None:
    """Log a prompt or an answer under its label."""
    sensitive_log(logger, logging.INFO, "%s: %s", label, content)
