"""DelimitedChunker: the first or the last pieces of a text."""

from typing import Any

from pydantic import Field

from mnemoir.workflows.config.model import Line
from mnemoir.workflows.node import NodeProperties, ValueNode
from mnemoir.workflows.step import Step

_MODES = ("head", "tail")


class Properties(NodeProperties):
    """Properties of a DelimitedChunker node. Any value is read, because a wrong one is reported in the output."""

    content: Line | None = Field(None, description="The text, with variables.")
    delimiter: Line | None = Field(None, description="What stands between its pieces, with variables.")
    mode: Any = Field(
        None, description="head for the first pieces, tail for the last.", json_schema_extra={"enum": [*_MODES]}
    )
    count: Any = Field(
        None, description="How many pieces; a number.", json_schema_extra={"type": "integer", "minimum": 1}
    )


class DelimitedChunker(ValueNode[Properties]):
    """Cuts a text at a delimiter and keeps some of its pieces. A fault becomes the output; the run continues."""

    kind = "DelimitedChunker"
    properties_type = Properties
    filled = ("content", "delimiter")

    async def value(self, step: Step) -> str:
        """The pieces with the delimiter between them, or a sentence with the fault."""
        said, variables = self.properties, step.variables()
        delimiter = step.fill(said.delimiter or "", variables)
        if fault := self._missing() or self._wrong(delimiter):
            step.note(fault)
            return fault
        pieces = step.fill(said.content or "", variables).split(delimiter)
        return delimiter.join(pieces[: said.count] if said.mode == "head" else pieces[-said.count :])

    def _missing(self) -> str:
        keys = ("content", "delimiter", "mode", "count")
        return next((f"No {key} specified" for key in keys if getattr(self.properties, key) is None), "")

    def _wrong(self, delimiter: str) -> str:
        count, mode = self.properties.count, self.properties.mode
        if not isinstance(count, int) or isinstance(count, bool):
            return f"Invalid count: must be an integer, got {type(count).__name__}"
        if count < 1:
            return f"Invalid count: must be >= 1, got {count}"
        if mode not in _MODES:
            return f"Invalid mode: must be 'head' or 'tail', got '{mode}'"
        return "" if delimiter else "Invalid delimiter: must resolve to a non-empty string"
