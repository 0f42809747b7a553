"""GetCurrentStateDocument: the state document of the discussion."""

from mnemoir.memory.discussions.parts import NO_STATE_DOCUMENT
from mnemoir.workflows.node import NodeProperties, ValueNode
from mnemoir.workflows.remembering import read_or
from mnemoir.workflows.step import Step


class GetCurrentStateDocument(ValueNode[NodeProperties]):
    """Reads the state document as it is. It writes nothing and asks no model."""

    kind = "GetCurrentStateDocument"

    async def value(self, step: Step) -> str:
        """The document, or the format's fixed sentence without one."""
        discussion = step.discussion
        if discussion is None:
            return NO_STATE_DOCUMENT
        text = await read_or(step, self.services.discussions.files.state_document(discussion), None)
        return text if text and text.strip() else NO_STATE_DOCUMENT
