"""Workflow files as a check reads them: their nodes, and the workflows that the nodes run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mnemoir.workflows.checking.nodes import type_name
from mnemoir.workflows.checking.survey import FilePosition, Survey
from mnemoir.workflows.config.model import is_set
from mnemoir.workflows.config.tree import UserTree
from mnemoir.workflows.config.user import UserSettings

CUSTOM, CONDITIONAL = "customworkflow", "conditionalcustomworkflow"
# by type of memory node: the key of the user's file that names the workflow it runs
_TOOLS = {
    "fullchatsummary": "chatSummaryToolWorkflow",
    "recentmemory": "recentMemoryToolWorkflow",
    "qualitymemory": "recentMemoryToolWorkflow",
    "conversationmemory": "conversationMemoryToolWorkflow",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeAt:
    """A node and its position."""

    place: FilePosition
    number: int
    raw: Mapping[str, Any]  # JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowAt:
    """A workflow and its position."""

    path: str
    place: FilePosition
    nodes: Sequence[NodeAt]
    variables: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """The name of a workflow at `place`. `inputs` is the number of its inputs, None where the server decides.

    `may_not_run` marks a choice among several workflows.
    """

    place: FilePosition
    name: str
    folder: str = ""
    inputs: int | None = 0
    may_not_run: bool = False


def workflow_at(survey: Survey, path: str) -> WorkflowAt | None:
    """The workflow in a file; None, with a reported problem, for any other file."""
    raw, place = survey.raw(path), survey.place(path)
    if raw is None:
        return None
    if isinstance(raw, list):
        return WorkflowAt(path=path, place=place, nodes=tuple(_nodes(survey, place, raw)))
    if not isinstance(raw, dict):
        survey.report(
            place, "A workflow is a list of nodes, or an object with such a list as `nodes`.", "Make it one."
        )
        return None
    variables = {key: value for key, value in raw.items() if key != "nodes"}
    nodes, inner = raw.get("nodes", []), place / "nodes"
    if not isinstance(nodes, list):
        survey.report(inner, "It must be a list of nodes.", "Put the nodes between [ and ].")
        nodes = []
    return WorkflowAt(path=path, place=place, nodes=tuple(_nodes(survey, inner, nodes)), variables=variables)


def named_by(node: NodeAt, settings: UserSettings) -> Iterator[Name]:
    """The workflows that a node runs, as far as its file names them."""
    kind, raw, place = type_name(node.raw), node.raw, node.place
    folder, inputs = _text(raw.get("workflowUserFolderOverride")), raw.get("scoped_variables")
    given = len(inputs) if isinstance(inputs, list) else 0
    if kind == CUSTOM:
        name = _text(raw.get("workflowName"))
        yield Name(place=place / "workflowName", name=name, folder=folder, inputs=given)
    elif kind == CONDITIONAL and isinstance(routes := raw.get("conditionalWorkflows"), dict):
        inner = place / "conditionalWorkflows"
        for key, name in routes.items():
            yield Name(place=inner / key, name=_text(name), folder=folder, inputs=given, may_not_run=True)
    elif name := tools_of(settings).get(tool_key(raw), ""):
        yield Name(place=place / "type", name=name, inputs=None, may_not_run=True)


def tools_of(settings: UserSettings) -> Mapping[str, str]:
    """The workflows that memory nodes run, by the keys of the user's file; "" for one that is not named."""
    return {
        "chatSummaryToolWorkflow": settings.chat_summary_workflow,
        "recentMemoryToolWorkflow": settings.recent_memory_workflow,
        "conversationMemoryToolWorkflow": settings.conversation_memory_workflow,
    }


def tool_key(raw: Mapping[str, Any]) -> str:
    """The key of the workflow that the node runs; "" for a node that runs none of them."""
    kind = type_name(raw)
    only_reads = kind == "fullchatsummary" and is_set(raw, "isManualConfig")
    return "" if only_reads else _TOOLS.get(kind, "")


def find_workflow(survey: Survey, user: UserTree, name: Name) -> str | None:
    """The path of the named workflow; None for a missing file, which is reported, and for a name with variables."""
    if is_open(name.name) or is_open(name.folder):
        return None
    if name.folder and not survey.allows(name.place, name.folder.removesuffix("/")):
        return None
    return survey.locate(name.place, "workflow", name.name, user.workflow_folders(name.folder))


def is_open(name: str) -> bool:
    """True when the name contains variables, so that it is known only at run time."""
    return "{" in name


def _nodes(survey: Survey, place: FilePosition, raw: Sequence[Any]) -> Iterator[NodeAt]:
    for index, node in enumerate(raw):
        if isinstance(node, dict):
            yield NodeAt(place=place / index, number=index + 1, raw=node)
        else:
            survey.report(place / index, "A node must be an object.", "Put its properties between { and }.")


def _text(raw: Any) -> str:
    """The text, or "" for another type, which the check of the node's shape reports."""
    return raw if isinstance(raw, str) else ""
