"""FullChatSummary: updates and reads the rolling summary of the discussion."""

from pydantic import Field

from mnemoir.memory.discussions.parts import NO_SUMMARY, NO_SUMMARY_FOUND
from mnemoir.memory.discussions.reading import rolling_summary_text
from mnemoir.memory.discussions.rolling_summary import count_since
from mnemoir.workflows.config.model import Flag
from mnemoir.workflows.discussion_memory import make_memories
from mnemoir.workflows.node import NodeProperties, ValueNode
from mnemoir.workflows.nodes.custom_workflow import output_of
from mnemoir.workflows.remembering import read_or
from mnemoir.workflows.step import Step


class FullChatSummaryProperties(NodeProperties):
    """Properties of a FullChatSummary node."""

    is_manual: Flag = Field(False, alias="isManualConfig", description="Only read the summary, and make nothing.")


class FullChatSummary(ValueNode[FullChatSummaryProperties]):
    """Makes chunk summaries, runs the user's chatSummaryToolWorkflow on new ones, and outputs the rolling summary.

    It asks models and may take long, so it belongs behind the responder, or behind a WorkflowLock. Without a
    discussion its output is None.
    """

    kind = "FullChatSummary"
    properties_type = FullChatSummaryProperties
    is_timed = False

    async def value(self, step: Step) -> object:
        """The rolling summary. Raises SettingsError if a summary is due and no workflow that makes it is named."""
        discussion, memory = step.discussion, self.services.discussions
        if discussion is None:
            return None
        if self.properties.is_manual:
            return await read_or(step, rolling_summary_text(memory, discussion), None) or NO_SUMMARY_FOUND
        await make_memories(step, summaries_only=True)
        since = await read_or(step, count_since(memory, discussion), 0)
        if since > 1 or since < 0:
            return await output_of(step, step.user.settings.chat_summary_workflow, key="chatSummaryToolWorkflow")
        return await read_or(step, rolling_summary_text(memory, discussion), None) or NO_SUMMARY
