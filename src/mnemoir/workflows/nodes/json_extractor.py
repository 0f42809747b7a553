"""JsonExtractor: a member of a JSON object."""

from pydantic import Field

from mnemoir.workflows.config.model import Line
from mnemoir.workflows.extraction import json_member
from mnemoir.workflows.node import NodeProperties, ValueNode
from mnemoir.workflows.step import Step


class Properties(NodeProperties):
    """Properties of a JsonExtractor node."""

    text: Line = Field(
        "", alias="jsonToExtractFrom", description="The JSON, with variables; a code fence may be around it."
    )
    name: Line = Field("", alias="fieldToExtract", description="The name of a top-level member, with variables.")


class JsonExtractor(ValueNode[Properties]):
    """Outputs one top-level member of a JSON object."""

    kind = "JsonExtractor"
    properties_type = Properties
    filled = ("jsonToExtractFrom", "fieldToExtract")

    async def value(self, step: Step) -> str:
        """The member as text; "" if it is missing or null, or if the text is no JSON object."""
        said, variables = self.properties, step.variables()
        found = json_member(step.fill(said.text, variables), step.fill(said.name, variables))
        if found is None:
            step.note("jsonToExtractFrom is no JSON object.")
        return found or ""
