"""The graph of a workflow file: its nodes in running order, their models, calls of workflows and variables.

It is built from the files alone, so a workflow with mistakes has a graph too. The engine's own rules determine the
answering node, the file of a name for a user, and the variables in a text.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from mnemoir.core.errors import SettingsError
from mnemoir.core.text import folded_name
from mnemoir.workflows.checking.answering import answering_index
from mnemoir.workflows.checking.nodes import type_of
from mnemoir.workflows.checking.survey import Survey
from mnemoir.workflows.checking.variables import texts_of
from mnemoir.workflows.checking.workflows import Name, NodeAt, WorkflowAt, is_open, named_by
from mnemoir.workflows.config.model import is_set
from mnemoir.workflows.config.shown import without_secrets
from mnemoir.workflows.config.tree import UserTree
from mnemoir.workflows.config.user import UserSettings
from mnemoir.workflows.text.filling import names_in

Role = Literal["before", "answers", "behind"]

_OUTPUT = re.compile(r"agent(\d+)Output")
_NO_USER = UserSettings.model_validate({})


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphCall:
    """A workflow that a node runs. `path` is None for a missing file and for a name known only at run time.

    `when` is the condition of the call, None for one that always runs; `at` is the position of the name in the file.
    """

    name: str
    path: str | None
    when: str | None
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphUse:
    """A variable in a text of a node. `source` is the number of the node whose output it is, None for others."""

    name: str
    source: int | None
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphNode:
    """One node. `type` is spelled as in the file, `kind` as the type's own name; None for an unknown type.

    `at` is the position in the file, like `$[0]`. `role` is the node's position relative to the responder.
    """

    number: int
    title: str
    type: str
    kind: str | None
    description: str
    at: str
    role: Role
    endpoint: str | None
    endpoint_path: str | None
    model: str | None
    preset: str | None
    calls: Sequence[GraphCall]
    uses: Sequence[GraphUse]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowGraph:
    """A workflow as a graph. Names are looked up in the folders of `user`, if any; `variables` are the file's own."""

    path: str
    user: str | None
    nodes: Sequence[GraphNode]
    variables: Sequence[str]


def graph_of(survey: Survey, workflow: WorkflowAt, user: UserTree | None) -> WorkflowGraph:
    """The graph of one workflow, with names looked up for `user`. Faults in files raise no exception."""
    drawing = _Drawing(survey, user)
    answering = answering_index(workflow.nodes)
    return WorkflowGraph(
        path=workflow.place.file,
        user=user.name if user else None,
        nodes=[drawing.node(node, index - answering) for index, node in enumerate(workflow.nodes)],
        variables=list(workflow.variables),
    )


class _Drawing:
    """Builds graph nodes from the workflows of one user."""

    def __init__(self, survey: Survey, user: UserTree | None) -> None:
        self._survey = survey
        self._user = user
        self._settings = user.settings if user else _NO_USER

    def node(self, node: NodeAt, behind: int) -> GraphNode:
        """The graph node; `behind` is its distance after the answering node, negative before it."""
        raw, kind = node.raw, type_of(self._survey, node.raw)
        endpoint = _text(raw, "endpointName")
        endpoint_path, model = self._endpoint(endpoint)
        return GraphNode(
            number=node.number,
            title=_title(node),
            type=without_secrets(str(raw.get("type") or "Standard")),
            kind=kind.kind if kind else None,
            description=(kind.__doc__ or "").partition("\n")[0] if kind else "",
            at=node.place.path,
            role="answers" if behind == 0 else "behind" if behind > 0 else "before",
            endpoint=without_secrets(endpoint) or None,
            endpoint_path=endpoint_path,
            model=model,
            preset=without_secrets(_text(raw, "preset")) or None,
            calls=[self._call(name) for name in named_by(node, self._settings)],
            uses=list(self._uses(node)),
        )

    def _call(self, name: Name) -> GraphCall:
        when = name.place.steps[-1] if name.may_not_run else None
        return GraphCall(
            name=without_secrets(name.name),
            path=self._workflow(name),
            when=None if when is None or when == "type" else str(when),
            at=name.place.path,
        )

    def _workflow(self, name: Name) -> str | None:
        if self._user is None or not name.name or is_open(name.name) or is_open(name.folder):
            return None
        return self._path_of("workflow", name.name, name.folder)

    def _path_of(self, kind: str, name: str, folder: str = "") -> str | None:
        """The path of the file relative to the root; None for a missing file and a forbidden name."""
        assert self._user is not None
        tree = self._user.tree
        try:
            folders = self._user.workflow_folders(folder) if kind == "workflow" else self._user.endpoint_folders()
            found = tree.find(kind, name, folders)
        except SettingsError:
            return None
        return tree.lookup.relative(found.path) if found else None

    def _endpoint(self, name: str) -> tuple[str | None, str | None]:
        """The path of the endpoint's file, and the model that it names."""
        if self._user is None or not name or is_open(name):
            return None, None
        path = self._path_of("endpoint", name)
        try:
            return path, (self._user.endpoint(name).model or None) if path else None
        except SettingsError:
            return path, None

    def _uses(self, node: NodeAt) -> Iterator[GraphUse]:
        told: set[tuple[str, str]] = set()
        for place, text, _ in texts_of(self._survey, node):
            for name in sorted(_names(text, jinja=is_set(node.raw, "jinja2"))):
                if (name, place.path) not in told:
                    told.add((name, place.path))
                    number = _OUTPUT.fullmatch(name)
                    yield GraphUse(name=name, source=int(number[1]) if number else None, at=place.path)


def user_of(workflow: str, users: Sequence[UserTree]) -> UserTree | None:
    """The first user with the workflow in their own folder, else the first of all; None without users."""
    folder = folded_name(workflow.rpartition("/")[0])
    for user in users:
        if folder in (folded_name("/".join(own)) for own in _folders(user)):
            return user
    return users[0] if users else None


def _folders(user: UserTree) -> Sequence[Sequence[str]]:
    try:
        return user.workflow_folders()
    except SettingsError:
        return []


def _title(node: NodeAt) -> str:
    return without_secrets(str(node.raw.get("title") or node.raw.get("agentName") or f"node {node.number}"))


def _text(raw: Mapping[str, Any], key: str) -> str:
    value = raw.get(key)
    return value if isinstance(value, str) else ""


def _names(text: str, *, jinja: bool) -> set[str]:
    if "{" not in text:
        return set()
    try:
        return names_in(text, jinja=jinja)
    except SettingsError:
        return set()
