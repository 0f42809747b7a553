"""Conditional: evaluates a condition to TRUE or FALSE."""

from pydantic import Field

from mnemoir.workflows.conditions import NotACondition, holds
from mnemoir.workflows.config.model import Line
from mnemoir.workflows.node import NodeProperties, ValueNode
from mnemoir.workflows.step import Step


class Properties(NodeProperties):
    """Properties of a Conditional node."""

    condition: Line = Field(
        "", description="Comparisons with == != >= <= > <, joined by AND and OR, with brackets and variables."
    )


class Conditional(ValueNode[Properties]):
    """Outputs whether its condition holds; FALSE, with a note, for an invalid condition."""

    kind = "Conditional"
    properties_type = Properties
    filled = ("condition",)

    async def value(self, step: Step) -> str:
        """`TRUE` or `FALSE`."""
        try:
            return "TRUE" if holds(step.fill(self.properties.condition)) else "FALSE"
        except NotACondition as exc:
            step.note(f"The condition cannot be read, so it is FALSE: {exc}")
            return "FALSE"
