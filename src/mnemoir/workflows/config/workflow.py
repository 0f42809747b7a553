"""Workflow files: a JSON list of nodes, or an object whose `nodes` is that list; its other members are variables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

import orjson

from mnemoir.core.errors import SettingsError


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeDefinition:
    """One node of a workflow file. `number` counts from 1; `raw` is the whole JSON object."""

    number: int
    title: str
    type: str
    raw: Mapping[str, Any]  # JSON; each node type reads its own


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class WorkflowDefinition:
    """A workflow: its nodes in running order. The same object as long as its file does not change.

    `folder` is the folder of the file below `Workflows/`, "" for the built-in workflow.
    """

    name: str
    folder: str = ""
    nodes: Sequence[NodeDefinition]
    variables: Mapping[str, Any] = field(default_factory=dict)


def read_workflow(name: str, raw: object, folder: str = "") -> WorkflowDefinition:
    """The workflow in `raw`; an object without `nodes` has no nodes.

    Raises SettingsError naming the workflow, the node and the fault.
    """
    nodes = raw.get("nodes", []) if isinstance(raw, dict) else raw
    if not isinstance(nodes, list):
        raise SettingsError(f"Workflow {name}: `nodes` must be a list of nodes.")
    variables = {key: value for key, value in raw.items() if key != "nodes"} if isinstance(raw, dict) else {}
    return WorkflowDefinition(
        name=name,
        folder=folder,
        nodes=tuple(_node(name, number, node) for number, node in enumerate(nodes, 1)),
        variables=variables,
    )


def _node(workflow: str, number: int, raw: object) -> NodeDefinition:
    if not isinstance(raw, dict):
        raise SettingsError(f"Workflow {workflow}: node {number} must be an object.")
    title = raw.get("title") or raw.get("agentName") or f"node {number}"
    return NodeDefinition(number=number, title=str(title), type=str(raw.get("type") or "Standard"), raw=raw)


def default_workflow() -> WorkflowDefinition:
    """The built-in workflow, read from a workflow file in the package."""
    text = files("mnemoir.workflows").joinpath("default.json").read_bytes()
    return read_workflow("default", orjson.loads(text))
