"""CustomWorkflow: runs another workflow as one node, with texts as its inputs."""

from collections.abc import Sequence

from pydantic import Field

from mnemoir.core.errors import SettingsError
from mnemoir.workflows.config.model import Line
from mnemoir.workflows.node import NodeProperties, ValueNode
from mnemoir.workflows.run import Overrides
from mnemoir.workflows.step import Step


class ChildProperties(NodeProperties):
    """Properties of both kinds of nodes that run another workflow."""

    folder: Line = Field("", alias="workflowUserFolderOverride", description="Folder in Workflows/; else the user's.")
    scoped_variables: Sequence[object] = Field((), description="What it gets as agent1Input, agent2Input, …")


class CustomWorkflowProperties(ChildProperties):
    """Properties of a CustomWorkflow node."""

    workflow: Line = Field("", alias="workflowName", description="The workflow to run.")
    system_prompt: Line = Field(
        "", alias="firstNodeSystemPromptOverride", description="Replaces the system prompt of its first prompt."
    )
    prompt: Line = Field("", alias="firstNodePromptOverride", description="Replaces the prompt there.")


class CustomWorkflow(ValueNode[CustomWorkflowProperties]):
    """Runs a workflow and outputs its answer. As the responder, it lets that workflow answer the client."""

    kind = "CustomWorkflow"
    properties_type = CustomWorkflowProperties
    filled = ("scoped_variables", "firstNodeSystemPromptOverride", "firstNodePromptOverride")
    is_timed = False

    async def value(self, step: Step) -> object:
        """The output of the workflow's responder."""
        properties = self.properties
        if not properties.workflow:
            raise SettingsError(f"Node {step.definition.title!r} names no workflow. Give it a workflowName.")
        return await run_child(step, properties, properties.workflow, properties.system_prompt, properties.prompt)


async def run_child(
    step: Step, properties: ChildProperties, workflow: str, system_prompt: str, prompt: str
) -> object:
    """The output of `workflow`, run with the node's texts, which are filled with the parent's variables."""
    variables = step.variables()
    return await step.engine.run_child(
        step,
        step.early(workflow),
        folder=step.early(properties.folder),
        inputs=[step.fill(str(text), variables) for text in properties.scoped_variables],
        overrides=Overrides(system_prompt=step.override(system_prompt), prompt=step.override(prompt)),
        silent=not step.answers_client,
    )


async def output_of(step: Step, workflow: str, *, key: str = "") -> object:
    """The output of another workflow of the user, not sent to the client; `key` of the user's file names it.

    Raises SettingsError if the user's file names none.
    """
    if not workflow:
        raise SettingsError(
            f"Node {step.definition.title!r} of type {step.definition.type} runs the workflow that {key} names, "
            "and the user's file names none."
        )
    return await step.engine.run_child(step, workflow)
