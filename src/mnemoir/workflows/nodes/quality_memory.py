"""QualityMemory and RecentMemory: make memories of the discussion, if enough of it is new."""

from mnemoir.workflows.discussion_memory import make_memories
from mnemoir.workflows.node import NodeProperties, ValueNode
from mnemoir.workflows.nodes.custom_workflow import output_of
from mnemoir.workflows.step import Step


class QualityMemory(ValueNode[NodeProperties]):
    """Makes chunk summaries, or records if the settings file says so. It belongs behind the responder.

    Its output is None. Without a discussion it runs the user's recentMemoryToolWorkflow and outputs its answer, or ""
    without such a workflow.
    """

    kind = "QualityMemory"
    is_timed = False  # it makes as many calls as there are chunks, and each has its own limits

    async def value(self, step: Step) -> object:
        """None, or the output without a discussion. Raises SettingsError for a missing or wrong settings file."""
        if step.discussion is None:
            workflow = step.user.settings.recent_memory_workflow
            return await output_of(step, workflow) if workflow else ""
        await make_memories(step)
        return None


class RecentMemory(ValueNode[NodeProperties]):
    """Makes chunk summaries, then runs the user's recentMemoryToolWorkflow and outputs its answer."""

    kind = "RecentMemory"
    is_timed = False

    async def value(self, step: Step) -> object:
        """The answer of that workflow. Raises SettingsError if the user names none."""
        await make_memories(step, summaries_only=True)
        return await output_of(step, step.user.settings.recent_memory_workflow, key="recentMemoryToolWorkflow")
