"""The base class of all sections of the settings: frozen, without unknown keys, with no values in error texts."""

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """One level of the settings tree."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, validate_default=False)
