"""ChatSummaryMemoryGatheringTool: the chunk summaries that the rolling summary does not include yet."""

import asyncio

from pydantic import Field

from mnemoir.memory.discussions.parts import BETWEEN_LATEST
from mnemoir.memory.discussions.reading import summaries_since
from mnemoir.memory.discussions.stateless import recent_turns
from mnemoir.workflows.node import Count, NodeProperties, ValueNode
from mnemoir.workflows.remembering import read_or
from mnemoir.workflows.step import Step


class ChatSummaryMemoryGatheringToolProperties(NodeProperties):
    """Properties of a ChatSummaryMemoryGatheringTool node."""

    turns: Count = Field(
        0, alias="maxTurnsToPull", description="Without a discussion: how many messages to choose from."
    )


class ChatSummaryMemoryGatheringTool(ValueNode[ChatSummaryMemoryGatheringToolProperties]):
    """Reads the new chunk summaries, oldest first. It makes no summaries and asks no model."""

    kind = "ChatSummaryMemoryGatheringTool"
    properties_type = ChatSummaryMemoryGatheringToolProperties

    async def value(self, step: Step) -> str:
        """The summaries; "" for none. Without a discussion the recent messages, or the format's fixed sentence."""
        discussion = step.discussion
        if discussion is None:
            turns = step.count(self.properties.turns, 0, "maxTurnsToPull")
            return await asyncio.to_thread(recent_turns, step.messages, turns=turns, delimiter=BETWEEN_LATEST)
        texts = await read_or(step, summaries_since(self.services.discussions, discussion), [])
        return BETWEEN_LATEST.join(texts)
