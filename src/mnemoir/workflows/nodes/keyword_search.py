"""The keyword search nodes: pieces of the conversation, or chunk summaries, that contain keywords."""

import asyncio

from pydantic import Field

from mnemoir.memory.discussions.reading import all_summaries
from mnemoir.memory.discussions.stateless import search_conversation, search_summaries
from mnemoir.workflows.config.model import Line
from mnemoir.workflows.discussion_memory import without_system_messages
from mnemoir.workflows.node import Count, NodeProperties, ValueNode
from mnemoir.workflows.remembering import read_or
from mnemoir.workflows.step import Step

_CONVERSATION, _SUMMARIES = "currentconversation", "recentmemories"


class KeywordSearchProperties(NodeProperties):
    """Properties of both kinds of keyword search."""

    keywords: Line = Field(description="The words, with variables; AND, OR and parentheses may stand between them.")
    target: Line = Field(
        "CurrentConversation",
        alias="searchTarget",
        description="CurrentConversation, or RecentMemories for chunk summaries; nothing is found in any other.",
    )
    lookback_start: Count = Field(
        0, alias="lookbackStartTurn", description="Search so many of the last messages; 0 takes all but the last."
    )


class _KeywordSearch(ValueNode[KeywordSearchProperties]):
    properties_type = KeywordSearchProperties
    filled = ("keywords",)

    async def value(self, step: Step) -> str:
        """The texts found; "" for none. A fixed sentence without a discussion to search."""
        said = self.properties
        keywords, target = step.fill(said.keywords), said.target.strip().lower()
        messages = without_system_messages(step.messages)
        if target == _CONVERSATION:
            start = step.count(said.lookback_start, 0, "lookbackStartTurn")
            return await asyncio.to_thread(search_conversation, keywords, messages, lookback_start=start)
        discussion = step.discussion
        if target != _SUMMARIES or discussion is None:
            return ""
        summaries = await read_or(step, all_summaries(self.services.discussions, discussion), [])
        return await asyncio.to_thread(search_summaries, keywords, messages, summaries)


class ConversationalKeywordSearch(_KeywordSearch):
    """Searches the conversation, or its chunk summaries. It writes nothing and asks no model."""

    kind = "ConversationalKeywordSearchPerformerTool"
    aliases = ("KeywordSearchPerformerTool",)


class MemoryKeywordSearch(_KeywordSearch):
    """ConversationalKeywordSearch under another name of the format."""

    kind = "MemoryKeywordSearchPerformerTool"
