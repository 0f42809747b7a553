"""Conversion of a module's outcome to the node's value, or to an error with advice for the user."""

import json
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import structlog

from mnemoir.core.errors import ModuleFailed, SettingsError
from mnemoir.providers.python_modules.process import ProcessEnd

_log = structlog.get_logger(__name__)
_MIB = 1024 * 1024
_GARBLED = ("answered in an unknown way", "It must not write to pipes that are not its own.")


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLimits:
    """Limits of one call: seconds, memory (None for no limit) and bytes of output."""

    timeout_s: float
    memory_mib: int | None
    output_bytes: int


def value_of_ending(ending: ProcessEnd, path: str, limits: CallLimits) -> Any:  # JSON, or any text
    """The module's return value. Raises ModuleFailed, or SettingsError when the file cannot run."""
    if ending.cause == "answered":
        return value_of_answer(ending.answer, path, limits)
    causes: Mapping[str, tuple[str, str]] = {
        "ended": (f"ended its process ({_status(ending.status)})", "It must return from `Invoke` instead."),
        "timeout": _timeout(limits.timeout_s),
        "stopped": ("was ended", "The program is stopping."),
        "printed_too_much": (f"printed more than {limits.output_bytes // _MIB} MiB", "Let it print less."),
        "answered_too_much": _too_large(limits),
    }
    raise _failure(path, *causes[ending.cause])


def value_of_answer(answer: bytes, path: str, limits: CallLimits) -> Any:
    """The value in the child program's line of JSON. Raises as `value_of_ending` does."""
    outcome = _read(answer, path)
    kind, why = outcome.get("kind"), outcome.get("why", "")
    if kind == "value" and "value" in outcome:
        if "raised" in outcome:
            _log.warning("python module raised", module=path, error=str(outcome["raised"]).partition(":")[0])
            _log.debug("python module raised", module=path, error=outcome["raised"])  # may quote a person
        return outcome["value"]
    if kind == "unusable":
        raise SettingsError(f"Python module {path} cannot run: {why}. Mend the file, or name another in the node.")
    failures = {
        "memory": _memory(limits),
        "missing_file": (f"did not find a file it needs ({why})", "Put the file there, or correct its name."),
        "too_large": _too_large(limits),
        "left": (f"left its process instead of returning (exit {why})", "It must return from `Invoke`."),
    }
    raise _failure(path, *failures.get(str(kind), _GARBLED))


def timed_out(path: str, timeout_s: float) -> ModuleFailed:
    """The error for a call over its time limit; the module may still run."""
    return _failure(path, *_timeout(timeout_s))


def _memory(limits: CallLimits) -> tuple[str, str]:
    most = "there is" if limits.memory_mib is None else f"its {limits.memory_mib} MiB"
    return f"needed more memory than {most}", "Let it hold less at a time, or raise the limit for modules."


def _timeout(timeout_s: float) -> tuple[str, str]:
    return f"did not return within {timeout_s:g} s", "Make it quicker, or raise `timeoutSeconds` of its node."


def _too_large(limits: CallLimits) -> tuple[str, str]:
    most = f"returned more than {limits.output_bytes // _MIB} MiB"
    return most, "Let it return less, or write a file and return its name."


def _failure(path: str, what: str, step: str) -> ModuleFailed:
    return ModuleFailed(f"Python module {path} {what}. {step}")


def _read(answer: bytes, path: str) -> Mapping[str, Any]:
    try:
        outcome = json.loads(answer)
    except (ValueError, RecursionError) as exc:
        raise _failure(path, *_GARBLED) from exc
    return outcome if isinstance(outcome, dict) else {}


def _status(status: int) -> str:
    if status >= 0:
        return f"exit status {status}"
    try:
        return f"signal {signal.Signals(-status).name}"
    except ValueError:
        return f"signal {-status}"
