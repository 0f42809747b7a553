"""GetCurrentMemoryFromFile: all chunk summaries of the discussion."""

from pydantic import Field

from mnemoir.memory.discussions.parts import CHUNK_BREAK, NO_MEMORIES
from mnemoir.memory.discussions.reading import all_summaries
from mnemoir.workflows.config.model import Line
from mnemoir.workflows.node import NodeProperties, ValueNode
from mnemoir.workflows.remembering import read_or
from mnemoir.workflows.step import Step


class GetCurrentMemoryFromFileProperties(NodeProperties):
    """Properties of a GetCurrentMemoryFromFile node."""

    delimiter: Line = Field(CHUNK_BREAK, alias="customDelimiter", description="What is put between them.")


class GetCurrentMemoryFromFile(ValueNode[GetCurrentMemoryFromFileProperties]):
    """Reads all chunk summaries, oldest first. It makes no summaries and asks no model."""

    kind = "GetCurrentMemoryFromFile"
    properties_type = GetCurrentMemoryFromFileProperties

    async def value(self, step: Step) -> str:
        """The summaries, or the format's fixed sentence without any."""
        discussion = step.discussion
        if discussion is None:
            return NO_MEMORIES
        texts = await read_or(step, all_summaries(self.services.discussions, discussion), [])
        return self.properties.delimiter.join(texts) if texts else NO_MEMORIES
