"""GetCurrentSummaryFromFile: the rolling summary of the discussion."""

from mnemoir.memory.discussions.parts import NO_SUMMARY
from mnemoir.memory.discussions.reading import rolling_summary_text
from mnemoir.workflows.node import NodeProperties, ValueNode
from mnemoir.workflows.remembering import read_or
from mnemoir.workflows.step import Step


class GetCurrentSummaryFromFile(ValueNode[NodeProperties]):
    """Reads the rolling summary as it is. It writes nothing and asks no model."""

    kind = "GetCurrentSummaryFromFile"

    async def value(self, step: Step) -> str:
        """The summary, or the format's fixed sentence without one."""
        discussion = step.discussion
        if discussion is None:
            return NO_SUMMARY
        text = await read_or(step, rolling_summary_text(self.services.discussions, discussion), None)
        return NO_SUMMARY if text is None else text
