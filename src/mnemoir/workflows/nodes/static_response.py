"""StaticResponse: a text of the workflow's own."""

from pydantic import Field

from mnemoir.workflows.config.model import Line
from mnemoir.workflows.node import NodeProperties, ValueNode
from mnemoir.workflows.step import Step


class Properties(NodeProperties):
    """What a StaticResponse node may say."""

    content: Line = Field("", description="The text, with variables.")


class StaticResponse(ValueNode[Properties]):
    """Gives its text; as the responder, that is the answer."""

    kind = "StaticResponse"
    properties_type = Properties
    filled = ("content",)

    async def value(self, step: Step) -> str:
        """The text with the variables in it."""
        return step.fill(self.properties.content)
