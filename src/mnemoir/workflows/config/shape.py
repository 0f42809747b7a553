"""Validation of JSON against the models of files, with faults described by their JSON path."""

from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from mnemoir.core.errors import SettingsError

_MOST_NAMED = 3

M = TypeVar("M", bound=BaseModel)


def shaped(model: type[M], relative: str, raw: Any) -> M:
    """`raw` as a `model`. Raises SettingsError naming the file, its first wrong members and the allowed values."""
    if not isinstance(raw, dict):
        raise SettingsError(f"{relative} must be a JSON object.")
    try:
        return model.model_validate(raw)
    except ValidationError as exc:
        raise SettingsError(f"{relative}: {_failure_text(exc)}.") from exc


def faults(exc: ValidationError) -> Sequence[tuple[tuple[str | int, ...], str]]:
    """Position and cause of every fault. The faulty values are not quoted, because one may be a key."""
    return [(error["loc"], error["msg"]) for error in exc.errors(include_input=False, include_url=False)]


def json_path(*steps: str | int) -> str:
    """A JSON path like `$.nodes[2].endpointName`; a key that is not a plain word is quoted."""
    return "$" + "".join(_step(step) for step in steps)


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if step.replace("-", "_").isidentifier() else f"[{step!r}]"


def _failure_text(exc: ValidationError) -> str:
    causes = [f"{json_path(*steps)}: {cause}" for steps, cause in faults(exc)]
    more = f"; and {len(causes) - _MOST_NAMED} more" if len(causes) > _MOST_NAMED else ""
    return "; ".join(causes[:_MOST_NAMED]) + more
