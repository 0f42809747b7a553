"""What all sections of the settings are: frozen, without unknown keys, and never quoting a value in an error."""

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """One level of the tree."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, validate_default=False)
