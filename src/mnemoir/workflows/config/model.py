"""The base model of all files of the config tree: unknown keys are kept and allowed, null means "not given"."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator


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
