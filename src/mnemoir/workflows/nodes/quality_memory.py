"""QualityMemory and RecentMemory: make memories of the discussion, where enough of it is new."""

from mnemoir.workflows.discussion_memory import make_memories
from mnemoir.workflows.node import NodeProperties, ValueNode
from mnemoir.workflows.nodes.custom_workflow import output_of
from mnemoir.workflows.step import Step


class QualityMemory(ValueNode[NodeProperties]):
    """Makes chunk summaries, or records where the settings file says so. Its place is behind the responder.

    Its output is None. Without a discussion it runs the user's recentMemoryToolWorkflow, if there is one, and gives
    what that gives, else "".
    """

    kind = "QualityMemory"
    is_timed = False  # it makes as many calls as there are chunks, and each has its own limits

    async def value(self, step: Step) -> object:
        """Raises SettingsError for a settings file that is missing or wrong."""
        if step.discussion is None:
            workflow = step.user.settings.recent_memory_workflow
            return await output_of(step, workflow) if workflow else ""
        await make_memories(step)
        return None


class RecentMemory(ValueNode[NodeProperties]):
    """Makes chunk summaries first, then gives what the user's recentMemoryToolWorkflow gives."""

    kind = "RecentMemory"
    is_timed = False

    async def value(self, step: Step) -> object:
        """Raises SettingsError without that workflow."""
        await make_memories(step, summaries_only=True)
        return await output_of(step, step.user.settings.recent_memory_workflow, key="recentMemoryToolWorkflow")
