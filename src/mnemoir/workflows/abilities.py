"""What of a client's request reaches the model that answers it: tools, pictures, and how long it may be.

Clients hide what a model is not said to take. In a config tree the node decides that answers.
"""

from dataclasses import dataclass

from mnemoir.workflows.checking.workflows import is_open
from mnemoir.workflows.compiled import Compiler
from mnemoir.workflows.config.tree import UserTree
from mnemoir.workflows.config.workflow import WorkflowDefinition
from mnemoir.workflows.node import ModelProperties, NodeProperties
from mnemoir.workflows.nodes.custom_workflow import CustomWorkflowProperties
from mnemoir.workflows.nodes.respond import Respond


@dataclass(frozen=True, slots=True, kw_only=True)
class Abilities:
    """`context_tokens` is the size that the answering endpoint's file gives, None where it gives none."""

    tools: bool = False
    pictures: bool = False
    context_tokens: int | None = None


def abilities_of(user: UserTree, workflow: WorkflowDefinition, compiler: Compiler) -> Abilities:
    """Those of the node that answers, in the workflows that answer for this one. Raises SettingsError.

    A workflow or an endpoint whose name is made while running is not known before: nothing is said of it.
    """
    seen: set[tuple[str, str]] = set()  # by name: a file of a moment ago is another object each time it is read
    while (workflow.folder, workflow.name) not in seen:
        seen.add((workflow.folder, workflow.name))
        compiled = compiler.compiled(workflow)
        if compiled.responder < 0:
            break
        found = compiled.nodes[compiled.responder]
        properties = found.properties
        if isinstance(found.node, Respond):
            return Abilities(tools=True, pictures=True)
        if not isinstance(properties, CustomWorkflowProperties):
            return _of_node(user, properties)
        if not properties.workflow or is_open(properties.workflow) or is_open(properties.folder):
            break
        workflow = user.workflow(properties.workflow, properties.folder)
    return Abilities()


def _of_node(user: UserTree, properties: NodeProperties) -> Abilities:
    if not isinstance(properties, ModelProperties):
        return Abilities()
    is_known = bool(properties.endpoint) and not is_open(properties.endpoint)
    return Abilities(
        tools=properties.allows_tools,
        pictures=properties.accepts_images,
        context_tokens=user.endpoint(properties.endpoint).context_tokens if is_known else None,
    )
