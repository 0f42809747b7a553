"""Compiled workflows: a node object for each node of a workflow file, and the index of the answering one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any
from weakref import WeakKeyDictionary

import structlog
from pydantic import ValidationError

from mnemoir.core.errors import SettingsError
from mnemoir.workflows.config.model import is_set
from mnemoir.workflows.config.workflow import NodeDefinition, WorkflowDefinition
from mnemoir.workflows.node import Node, NodeProperties
from mnemoir.workflows.services import Services

_log = structlog.get_logger(__name__)
_TIME_CONTEXT = "time_context_summary"
_TEXTS_ARE_PROMPTS = ("systemPrompt", "prompt")


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledNode:
    """A node of a file, ready to run."""

    definition: NodeDefinition
    node: Node[Any]
    properties: NodeProperties
    stamps: bool  # the node reads the conversation with times
    always_applies: bool  # the node type does not override `applies`


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledWorkflow:
    """A workflow ready to run. `responder` is the index of the node that answers, -1 without nodes.

    `overridden` is the index of the first node with a prompt of its own, which a parent may replace. `stamps` is True
    if any node reads the conversation with times, `names_time_context` if any may fill in the time context.
    """

    nodes: Sequence[CompiledNode]
    responder: int
    overridden: int
    stamps: bool
    names_time_context: bool

    @property
    def uses_times(self) -> bool:
        """True when any node needs the times of messages."""
        return self.stamps or self.names_time_context


class Compiler:
    """Compiles workflow definitions, each once as long as its file does not change."""

    def __init__(self, types: Mapping[str, type[Node[Any]]], services: Services) -> None:
        self._types = types
        self._services = services
        self._done: WeakKeyDictionary[WorkflowDefinition, CompiledWorkflow] = WeakKeyDictionary()

    def compiled_workflow(self, workflow: WorkflowDefinition) -> CompiledWorkflow:
        """The compiled workflow. Raises SettingsError naming the workflow, the node and the property at fault."""
        found = self._done.get(workflow)
        if found is None:
            found = self._done[workflow] = self._compile(workflow)
        return found

    def _compile(self, workflow: WorkflowDefinition) -> CompiledWorkflow:
        nodes = tuple(self._node(workflow, node) for node in workflow.nodes)
        return CompiledWorkflow(
            nodes=nodes,
            responder=responder_of([node.properties for node in nodes]),
            overridden=_first_with_a_prompt(nodes),
            stamps=any(node.stamps for node in nodes),
            names_time_context=_TIME_CONTEXT in repr((workflow.variables, [node.raw for node in workflow.nodes])),
        )

    def _node(self, workflow: WorkflowDefinition, definition: NodeDefinition) -> CompiledNode:
        kind = self._type(workflow, definition)
        try:
            properties = kind.properties_type.model_validate(definition.raw)
        except ValidationError as exc:
            raise SettingsError(f"{_place(workflow, definition)}: {_first_problem(exc)}") from exc
        return CompiledNode(
            definition=definition,
            node=kind(properties, self._services),
            properties=properties,
            stamps=is_set(definition.raw, "addDiscussionIdTimestampsForLLM"),
            always_applies=kind.applies is Node.applies,
        )

    def _type(self, workflow: WorkflowDefinition, definition: NodeDefinition) -> type[Node[Any]]:
        found = self._types.get(definition.type.lower())
        if found is not None:
            return found
        place = _place(workflow, definition)
        if definition.raw.get("endpointName"):
            _log.warning("unknown node type", node=definition.title, type=definition.type, treated_as="Standard")
            return self._types["standard"]
        near = get_close_matches(definition.type.lower(), self._types, n=1)
        hint = f"Did you mean {self._types[near[0]].kind}?" if near else "docs/nodes/README.md lists all types."
        raise SettingsError(f"{place} has the unknown type {definition.type!r}. {hint}")


def responder_of(nodes: Sequence[NodeProperties]) -> int:
    """The index of the node that answers: the first marked as the responder, else the last; -1 without nodes."""
    for index, node in enumerate(nodes):
        if node.returns_to_user if node.is_responder is None else node.is_responder:
            return index
    return len(nodes) - 1


def _first_with_a_prompt(nodes: Sequence[CompiledNode]) -> int:
    prompts = (any(key in node.definition.raw for key in _TEXTS_ARE_PROMPTS) for node in nodes)
    return next((index for index, has in enumerate(prompts) if has), -1)


def _place(workflow: WorkflowDefinition, definition: NodeDefinition) -> str:
    return f"Workflow {workflow.name}: node {definition.number} ({definition.title})"


def _first_problem(exc: ValidationError) -> str:
    problem = exc.errors(include_url=False, include_input=False)[0]
    key = ".".join(str(part) for part in problem["loc"]) or "the node"
    return f"{key}: {problem['msg'][0].lower()}{problem['msg'][1:]}"
