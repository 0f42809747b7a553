"""TagTextExtractor: extracts the text between two tags."""

from pydantic import Field

from mnemoir.workflows.config.model import Line
from mnemoir.workflows.extraction import text_in_tag
from mnemoir.workflows.node import NodeProperties, ValueNode
from mnemoir.workflows.step import Step


class Properties(NodeProperties):
    """Properties of a TagTextExtractor node."""

    text: Line = Field("", alias="tagToExtractFrom", description="The text to look in, with variables.")
    tag: Line = Field("", alias="fieldToExtract", description="The tag's name without brackets, with variables.")
    default: Line = Field("", alias="defaultText", description="The output where nothing is found, with variables.")


class TagTextExtractor(ValueNode[Properties]):
    """Outputs the text between the first `<name>` and `</name>`."""

    kind = "TagTextExtractor"
    properties_type = Properties
    filled = ("tagToExtractFrom", "fieldToExtract", "defaultText")

    async def value(self, step: Step) -> str:
        """The text between the tags; the default if there are no tags, or no text between them."""
        said, variables = self.properties, step.variables()
        tag = step.fill(said.tag, variables)
        found = text_in_tag(step.fill(said.text, variables), tag)
        if not found:
            step.note(f"There is no text between <{tag}> and </{tag}>.")
        return found or step.fill(said.default, variables)
