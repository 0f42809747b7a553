"""StringConcatenator: joins texts into one."""

from typing import Any

from pydantic import Field

from mnemoir.workflows.config.model import Line
from mnemoir.workflows.node import NodeProperties, ValueNode
from mnemoir.workflows.step import Step


class Properties(NodeProperties):
    """Properties of a StringConcatenator node."""

    strings: Any = Field((), description="A list of texts, with variables. Anything but a list gives an empty text.")
    delimiter: Line = Field("", description="Put between them, as it is.")


class StringConcatenator(ValueNode[Properties]):
    """Joins its texts; other values in the list are written in Python's notation."""

    kind = "StringConcatenator"
    properties_type = Properties
    filled = ("strings",)

    async def value(self, step: Step) -> str:
        """The joined text; "" if `strings` is no list."""
        strings = self.properties.strings
        if not isinstance(strings, list):
            return ""
        variables = step.variables()
        texts = [step.fill(item, variables) if isinstance(item, str) else str(item) for item in strings]
        return self.properties.delimiter.join(texts)
