"""Abilities of a served model, for clients: tools, pictures, and the size of its context.

Clients hide features that a model does not announce. In a config tree the answering node decides which of them pass.
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
    """The abilities of one model. `context_tokens` is from the answering endpoint's file, None if not given there."""

    tools: bool = False
    pictures: bool = False
    context_tokens: int | None = None


def abilities_of(user: UserTree, workflow: WorkflowDefinition, compiler: Compiler) -> Abilities:
    """The abilities of the node that answers, found through sub-workflows that answer. Raises SettingsError.

    Where the name of a workflow or an endpoint contains variables, its abilities are unknown and left out.
    """
    seen: set[tuple[str, str]] = set()  # by name: a recently written file is a new object each time it is read
    while (workflow.folder, workflow.name) not in seen:
        seen.add((workflow.folder, workflow.name))
        compiled = compiler.compiled_workflow(workflow)
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
