"""The check of a whole config tree, or of the files that some users reach."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel

from mnemoir.workflows.checking.endpoints import check_api_type
from mnemoir.workflows.checking.nodes import check_node
from mnemoir.workflows.checking.references import check_path
from mnemoir.workflows.checking.survey import FilePosition, Hint, Outside, Problem, Survey, Types
from mnemoir.workflows.checking.users import check_user
from mnemoir.workflows.checking.workflows import workflow_at
from mnemoir.workflows.config.endpoint import EndpointDefinition, PromptTemplate
from mnemoir.workflows.config.routing import RoutingTable
from mnemoir.workflows.config.tree import ConfigTree

_SHAPES: Sequence[tuple[str, type[BaseModel]]] = (
    ("Endpoints", EndpointDefinition),
    ("PromptTemplates", PromptTemplate),
    ("Routing", RoutingTable),
)
_CURRENT = FilePosition(file="Users/_current-user.json")


def check(
    tree: ConfigTree,
    users: Sequence[str],
    node_types: Types,
    outside: Outside | None = None,
    typed: Mapping[str, Any] = MappingProxyType({}),
) -> list[Problem]:
    """All problems of the files that these users reach; for no users, of the whole tree. Changes nothing.

    Without `outside`, paths of file nodes and directories of discussions are not checked. `typed` is the JSON of
    files, by absolute path, that is checked in place of what is stored.
    """
    return check_files(Survey(tree, node_types, outside, typed), users).problems()


def check_with_hints(
    tree: ConfigTree, users: Sequence[str], node_types: Types, outside: Outside | None = None
) -> tuple[list[Problem], list[Hint]]:
    """The problems as from `check`, and hints at unused features."""
    survey = check_files(Survey(tree, node_types, outside), users)
    return survey.problems(), survey.hints()


def check_files(survey: Survey, users: Sequence[str]) -> Survey:
    """Check the files that these users reach, without users those of the whole tree; returns the survey."""
    for name in users or survey.tree.user_names():
        check_user(survey, name, FilePosition(file=f"Users/{name.lower()}.json"))
    if not users:
        _check_current_user(survey)
        _check_rest(survey)
    return survey


def _check_current_user(survey: Survey) -> None:
    found = survey.tree.lookup.find("Users", "_current-user.json")
    raw = survey.raw(found.path) if found else None
    name = raw.get("currentUser") if isinstance(raw, dict) else None
    if isinstance(name, str) and name:
        survey.locate(_CURRENT / "currentUser", "user", name.lower(), [("Users",)])
    elif raw is not None:
        survey.report(_CURRENT / "currentUser", "It names no user.", "Give the name of a file in Users.", "warning")


def _check_rest(survey: Survey) -> None:
    """Check the files that no user may reach: their JSON, their shape, and the nodes of workflows."""
    for folder, shape in _SHAPES:
        for path in survey.files(folder):
            survey.file_as_model(path, shape)
    for path in survey.files("ApiTypes"):
        check_api_type(survey, path, is_named=path in survey.read)
    for path in survey.files("Presets"):
        survey.raw(path)
    for path in survey.files("Workflows"):
        is_other = path not in survey.no_workflows and path not in survey.gathered
        workflow = workflow_at(survey, path) if is_other else None
        for node in workflow.nodes if workflow else ():
            check_node(survey, node.place, node.raw)
            check_path(survey, node)
