"""The base model of all files of the config tree, and the validation of files against their models."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, model_validator

from mnemoir.core.errors import SettingsError

_MOST_NAMED = 3

M = TypeVar("M", bound=BaseModel)


def _flag(raw: object) -> object:
    """The flag as a bool: hand-written files use "true" and 1 for true."""
    if isinstance(raw, str) and raw.strip().lower() in ("true", "false"):
        return raw.strip().lower() == "true"
    return raw


def is_set(raw: Mapping[str, Any], key: str) -> bool:
    """True when a flag is on that is not among the fields of the object's type."""
    return _flag(raw.get(key)) in (True, 1)


def _line(raw: object) -> object:
    """The text; a number in its place becomes its text."""
    return str(raw) if isinstance(raw, int | float) and not isinstance(raw, bool) else raw


Flag = Annotated[bool, BeforeValidator(_flag)]
Line = Annotated[str, BeforeValidator(_line)]


class ConfigModel(BaseModel):
    """A file, or an object in one. Fields are read only by their key in the file."""

    model_config = ConfigDict(
        frozen=True,
        extra="allow",
        hide_input_in_errors=True,
        serialize_by_alias=True,
        defer_build=True,  # a workflow uses few of the many kinds, and building all adds 30 ms to every start
    )

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, raw: Any) -> Any:  # any JSON
        if isinstance(raw, dict):
            return {key: value for key, value in raw.items() if value is not None}
        return raw


def as_model(model: type[M], relative: str, raw: Any) -> M:
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
