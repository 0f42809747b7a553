"""TagTextExtractor: the text between two tags."""

from pydantic import Field

from mnemoir.workflows.config.model import Line
from mnemoir.workflows.extraction import text_in_tag
from mnemoir.workflows.node import NodeProperties, ValueNode
from mnemoir.workflows.step import Step


class Properties(NodeProperties):
    """What a TagTextExtractor node may say."""

    text: Line = Field("", alias="tagToExtractFrom", description="The text to look in, with variables.")
    tag: Line = Field("", alias="fieldToExtract", description="The tag's name without brackets, with variables.")
    default: Line = Field("", alias="defaultText", description="The output where nothing is found, with variables.")


class TagTextExtractor(ValueNode[Properties]):
    """Takes what stands between `<name>` and `</name>`, the first time they occur."""

    kind = "TagTextExtractor"
    properties_type = Properties
    filled = ("tagToExtractFrom", "fieldToExtract", "defaultText")

    async def value(self, step: Step) -> str:
        """The text between the tags; the default where there are none, or nothing between them."""
        said, variables = self.properties, step.variables()
        tag = step.fill(said.tag, variables)
        found = text_in_tag(step.fill(said.text, variables), tag)
        if not found:
            step.note(f"There is no text between <{tag}> and </{tag}>.")
        return found or step.fill(said.default, variables)
