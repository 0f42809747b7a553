"""Workflow files: a JSON list of nodes, or an object whose `nodes` is that list."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import orjson

from mnemoir.core.errors import SettingsError


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeDefinition:
    """One step as written. `properties` are all members but title and type; unknown ones are ignored."""

    title: str
    type: str
    properties: Mapping[str, Any]  # JSON; each node type reads its own


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowDefinition:
    """The nodes in the order they run."""

    name: str
    nodes: Sequence[NodeDefinition]


def read_workflow(name: str, text: bytes) -> WorkflowDefinition:
    """Parse a workflow file. Raises SettingsError naming the workflow, the node and what is wrong."""
    try:
        raw = orjson.loads(text)
    except orjson.JSONDecodeError as exc:
        raise SettingsError(f"Workflow {name} is not JSON: {exc}. Mend the file.") from exc
    nodes = raw.get("nodes", []) if isinstance(raw, dict) else raw
    if not isinstance(nodes, list):
        raise SettingsError(f"Workflow {name}: `nodes` must be a list.")
    return WorkflowDefinition(name=name, nodes=[_node(name, number, node) for number, node in enumerate(nodes, 1)])


def default_workflow() -> WorkflowDefinition:
    """The workflow that runs when no config tree is given: recall, respond, remember."""
    return read_workflow("default", files("mnemoir.workflows").joinpath("default.json").read_bytes())


def _node(workflow: str, number: int, raw: object) -> NodeDefinition:
    if not isinstance(raw, dict):
        raise SettingsError(f"Workflow {workflow}: node {number} must be an object.")
    properties = {key: value for key, value in raw.items() if key not in ("title", "type")}
    return NodeDefinition(
        title=str(raw.get("title") or f"node {number}"),
        type=str(raw.get("type") or "Standard"),
        properties=properties,
    )
