"""The answering node of a workflow, found from its files, and a hint if it drops tools that it could pass on."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from mnemoir.core.errors import SettingsError
from mnemoir.ports.llm import COMPLETION_KINDS
from mnemoir.workflows.checking.nodes import type_name
from mnemoir.workflows.checking.survey import Survey
from mnemoir.workflows.checking.workflows import Name, NodeAt, find_workflow, is_open, named_by, workflow_at
from mnemoir.workflows.compiled import responder_of
from mnemoir.workflows.config.model import is_set
from mnemoir.workflows.config.tree import UserTree
from mnemoir.workflows.node import NodeProperties

_NO_PROPERTIES = NodeProperties.model_validate({})
_RUN_OTHERS = ("customworkflow", "conditionalcustomworkflow")


def answering_index(nodes: Sequence[NodeAt]) -> int:
    """The index of the node that answers; -1 without nodes. A broken node counts as one without properties."""
    return responder_of([_common(node.raw) for node in nodes])


def hint_at_dropped_tools(survey: Survey, user: UserTree, tops: Iterable[Name]) -> None:
    """Add a hint for each answering node of these workflows that sends the conversation without the client's tools.

    Nodes with a prompt of their own get no hint: they see tool results as plain text at most.
    """
    for node in _answering_nodes(survey, user, tops):
        raw = node.raw
        if type_name(raw) != "standard" or raw.get("prompt") or is_set(raw, "allowTools"):
            continue
        if _asks_by_messages(user, raw.get("endpointName")):
            survey.hint(node.place, "The answering node drops tools of clients: set allowTools to true.")


def _answering_nodes(survey: Survey, user: UserTree, tops: Iterable[Name]) -> Iterator[NodeAt]:
    """The answering nodes, each once, also those in sub-workflows that answer for their parent."""
    waiting, seen = deque(tops), set[str]()
    while waiting:
        path = find_workflow(survey, user, waiting.popleft())
        workflow = workflow_at(survey, path) if path and path not in seen else None
        if path is None or workflow is None or not workflow.nodes:
            continue
        seen.add(path)
        node = workflow.nodes[answering_index(workflow.nodes)]
        if type_name(node.raw) in _RUN_OTHERS:
            waiting += named_by(node, user.settings)
        else:
            yield node


def _asks_by_messages(user: UserTree, name: object) -> bool:
    """True when the endpoint exists and takes messages; text completion endpoints take no tools."""
    if not isinstance(name, str) or not name or is_open(name):
        return False
    try:
        kind = user.api_type(user.endpoint(name).api_type).kind
    except SettingsError:  # reported by the check of the name
        return False
    return kind is not None and kind not in COMPLETION_KINDS


def _common(raw: Mapping[str, Any]) -> NodeProperties:
    try:
        return NodeProperties.model_validate(raw)
    except ValidationError:
        return _NO_PROPERTIES
