"""Checks of variables: the names in texts must be set by the workflow, its caller or the server."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from mnemoir.core.errors import SettingsError
from mnemoir.workflows.checking.nodes import type_of
from mnemoir.workflows.checking.survey import FilePosition, Survey, nearest
from mnemoir.workflows.checking.workflows import NodeAt, WorkflowAt
from mnemoir.workflows.config.model import is_set
from mnemoir.workflows.config.routing import RoutingTable, category_variables
from mnemoir.workflows.text.filling import names_in
from mnemoir.workflows.text.variables import KNOWN

_NUMBERED = re.compile(r"agent(\d+)(Input|Output)")
# properties with names of files: their variables are filled in before any node runs
_EARLY = ("endpointName", "preset", "workflowName", "workflowUserFolderOverride")
# filled in again by the workflow that receives them, with variables of its own
_PASSED_ON = ("firstNodeSystemPromptOverride", "firstNodePromptOverride", "routeOverrides")
_CATEGORIES = frozenset(category_variables(RoutingTable.model_validate({})))


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The variables a workflow is called with. `inputs` is the highest number of inputs, None if unknown."""

    inputs: int | None = None
    categories: bool = False
    user_wide: Collection[str] = field(default=())


def check_variables(survey: Survey, workflow: WorkflowAt, given: Given) -> None:
    """Check all texts of the workflow with variables. An unset name stays in its text as written."""
    known = {*(KNOWN if given.categories else KNOWN - _CATEGORIES), *workflow.variables, *given.user_wide}
    for node in workflow.nodes:
        for place, text, outputs in texts_of(survey, node):
            for name in sorted(_names(survey, place, text, jinja=is_set(node.raw, "jinja2"))):
                if name not in known:
                    _report_unset(survey, place, name, known, outputs, given)


def texts_of(survey: Survey, node: NodeAt) -> Iterator[tuple[FilePosition, str, int]]:
    """The texts of a node that take variables, each with the number of nodes with outputs it may name."""
    kind = type_of(survey, node.raw)
    filled = () if kind is None else kind.filled
    for key, value in node.raw.items():
        if key in filled and key not in _PASSED_ON:
            for place, text in _within(node.place / key, value):
                yield place, text, node.number - 1
        elif key in _EARLY and isinstance(value, str):
            yield node.place / key, value, 0


def _within(place: FilePosition, value: Any) -> Iterator[tuple[FilePosition, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _within(place / key, inner)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _within(place / index, inner)


def _names(survey: Survey, place: FilePosition, text: str, *, jinja: bool) -> set[str]:
    if "{" not in text:
        return set()
    try:
        return names_in(text, jinja=jinja)
    except SettingsError as exc:
        survey.report(place, exc.message, "Correct the template, or remove jinja2.")
        return set()


def _report_unset(
    survey: Survey, place: FilePosition, name: str, known: Collection[str], outputs: int, given: Given
) -> None:
    numbered = _NUMBERED.fullmatch(name)
    if numbered is None:
        near = nearest(name, list(known))
        fix = f"Did you mean {{{near}}}?" if near else "Set it at the top of the workflow, or double its braces."
        survey.report(place, f"{{{name}}} is not set anywhere; it stays in the text.", fix, "warning")
    elif numbered[2] == "Output":
        _report_output(survey, place, int(numbered[1]), outputs)
    elif given.inputs is not None and not 0 < int(numbered[1]) <= given.inputs:
        cause = f"{{{name}}} is not set: this workflow is given {given.inputs} inputs."
        survey.report(place, cause, "Add to scoped_variables where the workflow is named.", "warning")


def _report_output(survey: Survey, place: FilePosition, number: int, outputs: int) -> None:
    if not 0 < number <= outputs:
        cause = f"{{agent{number}Output}} is not set here: only nodes before this one have an output."
        fix = f"Name one of 1 to {outputs}." if outputs else "Nothing has an output here; remove it."
        survey.report(place, cause, fix, "warning")
