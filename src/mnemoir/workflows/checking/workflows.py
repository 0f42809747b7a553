"""Workflows as they are found in files: their nodes, and which workflows these run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mnemoir.workflows.checking.nodes import type_name
from mnemoir.workflows.checking.problem import FilePosition
from mnemoir.workflows.checking.survey import Survey
from mnemoir.workflows.config.model import is_set
from mnemoir.workflows.config.tree import UserTree
from mnemoir.workflows.config.user import UserSettings

CUSTOM, CONDITIONAL = "customworkflow", "conditionalcustomworkflow"
# by type of a node of memory: the key of the user's file that names the workflow it runs
_TOOLS = {
    "fullchatsummary": "chatSummaryToolWorkflow",
    "recentmemory": "recentMemoryToolWorkflow",
    "qualitymemory": "recentMemoryToolWorkflow",
    "conversationmemory": "conversationMemoryToolWorkflow",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeAt:
    """A node and where it is."""

    place: FilePosition
    number: int
    raw: Mapping[str, Any]  # JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowAt:
    """A workflow and where it is."""

    path: str
    place: FilePosition
    nodes: Sequence[NodeAt]
    variables: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """A workflow named at `place`. `inputs` is how many it is given, None where the server decides.

    One that `may_not_run` is a choice among several.
    """

    place: FilePosition
    name: str
    folder: str = ""
    inputs: int | None = 0
    may_not_run: bool = False


def workflow_at(survey: Survey, path: str) -> WorkflowAt | None:
    """The workflow in a file; None, which is told, when it is none."""
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
    """The workflows a node runs, as far as its file tells."""
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
    """The workflows that nodes of memory run, by their keys; "" for one that is not named."""
    return {
        "chatSummaryToolWorkflow": settings.chat_summary_workflow,
        "recentMemoryToolWorkflow": settings.recent_memory_workflow,
        "conversationMemoryToolWorkflow": settings.conversation_memory_workflow,
    }


def tool_key(raw: Mapping[str, Any]) -> str:
    """Under which of these keys the node finds the workflow that it runs; "" for one that runs none of them."""
    kind = type_name(raw)
    only_reads = kind == "fullchatsummary" and is_set(raw, "isManualConfig")
    return "" if only_reads else _TOOLS.get(kind, "")


def find_workflow(survey: Survey, user: UserTree, name: Name) -> str | None:
    """The file a name means; None, which is told, when there is none, or when it is only known at run time."""
    if is_open(name.name) or is_open(name.folder):
        return None
    if name.folder and not survey.allows(name.place, name.folder.removesuffix("/")):
        return None
    return survey.locate(name.place, "workflow", name.name, user.workflow_folders(name.folder))


def is_open(name: str) -> bool:
    """Whether the name has variables in it, so that it is only known at run time."""
    return "{" in name


def _nodes(survey: Survey, place: FilePosition, raw: Sequence[Any]) -> Iterator[NodeAt]:
    for index, node in enumerate(raw):
        if isinstance(node, dict):
            yield NodeAt(place=place / index, number=index + 1, raw=node)
        else:
            survey.report(place / index, "A node must be an object.", "Put its properties between { and }.")


def _text(raw: Any) -> str:
    """A wrong type is told where the node's shape is checked."""
    return raw if isinstance(raw, str) else ""
