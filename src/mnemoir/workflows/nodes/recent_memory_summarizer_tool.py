"""RecentMemorySummarizerTool: the newest chunk summaries, or without a discussion the newest messages."""

import asyncio

from pydantic import Field

from mnemoir.memory.discussions.parts import CHUNK_BREAK, NONE_GENERATED
from mnemoir.memory.discussions.reading import recent_summaries
from mnemoir.memory.discussions.stateless import recent_turns
from mnemoir.workflows.config.model import Line
from mnemoir.workflows.node import Count, NodeProperties, ValueNode
from mnemoir.workflows.remembering import read_or
from mnemoir.workflows.step import Step


class RecentMemorySummarizerToolProperties(NodeProperties):
    """Properties of a RecentMemorySummarizerTool node."""

    chunks: Count = Field(
        0, alias="maxSummaryChunksFromFile", description="How many chunk summaries; 0 gives three, -1 all."
    )
    turns: Count = Field(
        0, alias="maxTurnsToPull", description="Without a discussion: how many messages to choose from."
    )
    lookback_start: Count = Field(
        0, alias="lookbackStart", description="Without a discussion: so many of the newest are left out."
    )
    delimiter: Line = Field(CHUNK_BREAK, alias="customDelimiter", description="What is put between them.")


class RecentMemorySummarizerTool(ValueNode[RecentMemorySummarizerToolProperties]):
    """Reads the newest chunk summaries, oldest first. It makes no summaries and asks no model."""

    kind = "RecentMemorySummarizerTool"
    properties_type = RecentMemorySummarizerToolProperties

    async def value(self, step: Step) -> str:
        """The texts, or the format's fixed sentence without any."""
        said, discussion = self.properties, step.discussion
        if discussion is None:
            return await asyncio.to_thread(
                recent_turns,
                step.messages,
                turns=step.count(said.turns, 0, "maxTurnsToPull"),
                lookback_start=step.count(said.lookback_start, 0, "lookbackStart"),
                delimiter=said.delimiter,
            )
        count = step.count(said.chunks, 0, "maxSummaryChunksFromFile")
        texts = await read_or(step, recent_summaries(self.services.discussions, discussion, count), [])
        return said.delimiter.join(texts) if texts else NONE_GENERATED
