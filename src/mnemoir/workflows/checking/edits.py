"""The check of a workflow file as it would be with another text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from mnemoir.core.errors import SettingsError
from mnemoir.workflows.checking.check import check_files
from mnemoir.workflows.checking.outward import check_outward
from mnemoir.workflows.checking.survey import FilePosition, Outside, Problem, Survey, Types
from mnemoir.workflows.checking.workflows import WorkflowAt, workflow_at
from mnemoir.workflows.config.files import parse
from mnemoir.workflows.config.shown import COVER
from mnemoir.workflows.config.tree import ConfigTree, UserTree


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A workflow file, by its absolute path in the tree, its stored content, None for a new file, and the next one.

    `may_hold_cover` is True for content that never was in a browser.
    """

    place: str
    before: bytes | None
    after: bytes
    may_hold_cover: bool = False


def check_edit(
    tree: ConfigTree, node_types: Types, outside: Outside | None, user: UserTree | None, edit: Edit
) -> Sequence[Problem]:
    """All problems of the tree with that edit, and the reasons not to save it. Changes nothing.

    `user` is whose workflow it is, who looks up the names of workflows that it runs.
    """
    file = FilePosition(file=tree.lookup.relative(edit.place))
    try:
        raw = parse(file.file, edit.after)
    except SettingsError as exc:
        return [_problem(file, exc.message, "Correct the JSON; it allows no comments and no trailing commas.")]
    if raw is None:
        return [_problem(file, "It holds null.", "Write a list of nodes, or an object with such a list as `nodes`.")]
    survey = Survey(tree, node_types, outside, {edit.place: raw})
    check_files(survey, ())
    if not edit.may_hold_cover and COVER in orjson.dumps(raw).decode():
        cause = f"It holds {COVER}, which stands for a secret that is never sent to a browser."
        survey.report(file, cause, "Change this file on the server's disk.")
    after = workflow_at(survey, edit.place)
    if after is not None:
        check_outward(survey, _stored_workflow(tree, node_types, edit), after, user)
    return survey.problems()


def _stored_workflow(tree: ConfigTree, node_types: Types, edit: Edit) -> WorkflowAt | None:
    """The workflow before the edit; None for a new or broken file."""
    raw: Any = None
    if edit.before is not None:
        try:
            raw = parse(edit.place, edit.before)
        except SettingsError:
            return None
    return workflow_at(Survey(tree, node_types, None, {edit.place: raw}), edit.place) if raw is not None else None


def _problem(file: FilePosition, cause: str, fix: str) -> Problem:
    return Problem(file=file.file, path=file.path, level="error", cause=cause, fix=fix)
