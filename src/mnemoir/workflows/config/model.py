"""What all files of the config tree have in common: unknown keys are kept and never wrong, null means not given."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator


def _flag(raw: object) -> object:
    """Hand-written files hold "true" and 1 where true is meant."""
    if isinstance(raw, str) and raw.strip().lower() in ("true", "false"):
        return raw.strip().lower() == "true"
    return raw


def is_set(raw: Mapping[str, Any], key: str) -> bool:
    """Whether a flag is on that any object may have, whatever fields its type has."""
    return _flag(raw.get(key)) in (True, 1)


def _line(raw: object) -> object:
    """A number where a text belongs is its text."""
    return str(raw) if isinstance(raw, int | float) and not isinstance(raw, bool) else raw


Flag = Annotated[bool, BeforeValidator(_flag)]
Line = Annotated[str, BeforeValidator(_line)]


class ConfigModel(BaseModel):
    """A file, or an object in one. Fields are read by their key in the file and by no other name."""

    model_config = ConfigDict(
        frozen=True,
        extra="allow",
        hide_input_in_errors=True,
        serialize_by_alias=True,
        defer_build=True,  # of the many kinds a workflow uses few, and building all takes 30 ms of every start
    )

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, raw: Any) -> Any:  # what pydantic hands over is whatever was in the file
        if isinstance(raw, dict):
            return {key: value for key, value in raw.items() if value is not None}
        return raw
