"""ConversationMemory: runs the user's workflow for a conversation that belongs to a discussion."""

from mnemoir.memory.discussions.parts import NO_MEMORIES
from mnemoir.workflows.node import NodeProperties, ValueNode
from mnemoir.workflows.nodes.custom_workflow import output_of
from mnemoir.workflows.step import Step


class ConversationMemory(ValueNode[NodeProperties]):
    """Runs the user's conversationMemoryToolWorkflow and outputs its answer."""

    kind = "ConversationMemory"
    is_timed = False

    async def value(self, step: Step) -> object:
        """The answer; a fixed sentence without a discussion. Raises SettingsError if the user names no workflow."""
        if step.discussion is None:
            return NO_MEMORIES
        workflow = step.user.settings.conversation_memory_workflow
        return await output_of(step, workflow, key="conversationMemoryToolWorkflow")
