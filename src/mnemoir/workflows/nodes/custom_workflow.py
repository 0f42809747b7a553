"""CustomWorkflow: run another workflow as one step, and give it texts to work with."""

from collections.abc import Sequence

from pydantic import Field

from mnemoir.core.errors import SettingsError
from mnemoir.workflows.config.model import Line
from mnemoir.workflows.node import NodeProperties, ValueNode
from mnemoir.workflows.run import Overrides
from mnemoir.workflows.step import Step


class ChildProperties(NodeProperties):
    """What both kinds of nodes that run another workflow may say."""

    folder: Line = Field("", alias="workflowUserFolderOverride", description="Folder in Workflows/; else the user's.")
    scoped_variables: Sequence[object] = Field((), description="What it gets as agent1Input, agent2Input, …")


class CustomWorkflowProperties(ChildProperties):
    """What a CustomWorkflow may say."""

    workflow: Line = Field("", alias="workflowName", description="The workflow to run.")
    system_prompt: Line = Field(
        "", alias="firstNodeSystemPromptOverride", description="Replaces the system prompt of its first prompt."
    )
    prompt: Line = Field("", alias="firstNodePromptOverride", description="Replaces the prompt there.")


class CustomWorkflow(ValueNode[CustomWorkflowProperties]):
    """Its output is the workflow's answer. Where it answers the client, the workflow does so in its place."""

    kind = "CustomWorkflow"
    properties_type = CustomWorkflowProperties
    filled = ("scoped_variables", "firstNodeSystemPromptOverride", "firstNodePromptOverride")
    is_timed = False

    async def value(self, step: Step) -> object:
        """What the workflow's responder gave."""
        properties = self.properties
        if not properties.workflow:
            raise SettingsError(f"Node {step.definition.title!r} names no workflow. Give it a workflowName.")
        return await run_child(step, properties, properties.workflow, properties.system_prompt, properties.prompt)


async def run_child(
    step: Step, properties: ChildProperties, workflow: str, system_prompt: str, prompt: str
) -> object:
    """The output of `workflow`, which is given the node's texts, filled in the parent's words."""
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
    """What another workflow of the user gives to this node alone; `key` of the user's file names it.

    Raises SettingsError where none is named.
    """
    if not workflow:
        raise SettingsError(
            f"Node {step.definition.title!r} of type {step.definition.type} runs the workflow that {key} names, "
            "and the user's file names none."
        )
    return await step.engine.run_child(step, workflow)
