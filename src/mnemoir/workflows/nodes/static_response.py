"""StaticResponse: a fixed text with variables."""

from pydantic import Field

from mnemoir.workflows.config.model import Line
from mnemoir.workflows.node import NodeProperties, ValueNode
from mnemoir.workflows.step import Step


class Properties(NodeProperties):
    """Properties of a StaticResponse node."""

    content: Line = Field("", description="The text, with variables.")


class StaticResponse(ValueNode[Properties]):
    """Outputs its text, which is the answer if the node is the responder."""

    kind = "StaticResponse"
    properties_type = Properties
    filled = ("content",)

    async def value(self, step: Step) -> str:
        """The text with its variables filled in."""
        return step.fill(self.properties.content)
