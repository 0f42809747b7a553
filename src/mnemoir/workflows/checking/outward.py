"""Nodes that reach out of a workflow, into files and Python modules. Text typed in a browser adds and changes none.

What such a node touches is decided by its path, and for a module by its arguments. A path may be made of variables;
where nodes, variables or callers of the workflow fill them, a change of the workflow changes the path, so that such a
file is only changed on the disk. A call of a workflow with such nodes counts as one, since its inputs may decide what
they touch.
"""

import re
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from mnemoir.workflows.checking.nodes import type_of
from mnemoir.workflows.checking.survey import FilePosition, Survey
from mnemoir.workflows.checking.workflows import Name, WorkflowAt, is_open, named_by, workflow_at
from mnemoir.workflows.config.model import is_set
from mnemoir.workflows.config.tree import UserTree
from mnemoir.workflows.config.user import UserSettings

# by kind of node: the keys that decide what it touches; the first is its path
_OUTWARD: Mapping[str, Sequence[str]] = {
    "PythonModule": ("module_path", "args", "kwargs"),
    "SaveCustomFile": ("filepath",),
    "GetCustomFile": ("filepath",),
}
OUTWARD_KINDS: Collection[str] = tuple(_OUTWARD)
_VARIABLE = re.compile(r"\{+\s*([^{}\s]+)\s*\}+")
_OF_THE_RUN = re.compile(r"agent\d+(input|output)", re.IGNORECASE)
_ON_DISK = "Change this file on the server's disk."
_NO_SETTINGS = UserSettings.model_validate({})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Touch:
    """What a node reaches. `key` is equal for nodes that reach the same."""

    place: FilePosition
    key: bytes
    kind: str
    is_ours_to_fill: bool  # its path depends on this workflow


def check_outward(survey: Survey, before: WorkflowAt | None, after: WorkflowAt, user: UserTree | None) -> None:
    """Report each node of `after` that reaches out in another way than the nodes of `before`, None for a new file."""
    known = [touch.key for touch in _touches(survey, before, user)] if before else []
    for touch in _touches(survey, after, user):
        if touch.is_ours_to_fill:
            cause = f"What this {touch.kind} touches depends on the rest of the workflow."
            survey.report(touch.place, cause, _ON_DISK)
        elif touch.key in known:
            known.remove(touch.key)
        else:
            cause = f"A new or changed {touch.kind} is not saved from a browser."
            survey.report(touch.place, cause, _ON_DISK)


def _touches(survey: Survey, workflow: WorkflowAt, user: UserTree | None) -> Iterator[_Touch]:
    for node in workflow.nodes:
        kind = type_of(survey, node.raw)
        if kind is not None and (keys := _OUTWARD.get(kind.kind)):
            shown = _text(node.raw.get(keys[0]))
            yield _Touch(
                place=node.place / keys[0],
                key=_key(kind.kind, [node.raw.get(key) for key in keys]),
                kind=kind.kind,
                is_ours_to_fill=_is_filled_here(node.raw, shown, workflow.variables),
            )
        for name in named_by(node, user.settings if user else _NO_SETTINGS):
            if _reaches_out(survey, name, user):
                given = [name.name, name.folder, node.raw.get("scoped_variables")]
                key, written = _key("call", given), orjson.dumps(given).decode()
                ours = _is_filled_here(node.raw, written, workflow.variables)
                yield _Touch(place=name.place, key=key, kind="call of such a workflow", is_ours_to_fill=ours)


def _is_filled_here(raw: Mapping[str, Any], path: str, variables: Mapping[str, Any]) -> bool:
    """True when nodes, variables or callers of this workflow fill in a part of the path."""
    if "{" not in path:
        return False
    own = {name.lower() for name in variables}
    names = [name.lower() for name in _VARIABLE.findall(path)]
    return is_set(raw, "jinja2") or any(_OF_THE_RUN.search(name) or name in own for name in names)


def _reaches_out(survey: Survey, name: Name, user: UserTree | None) -> bool:
    """True when a workflow of that name, or one that it runs, reaches out; also where that is not known."""
    waiting, seen = deque([name]), set[str]()
    while waiting:
        called = waiting.popleft()
        if user is None or is_open(called.name) or is_open(called.folder):
            return True
        path = _path_of(survey, called, user)
        if path is None or path in seen:
            continue
        seen.add(path)
        workflow = workflow_at(survey, path)
        for node in workflow.nodes if workflow else ():
            kind = type_of(survey, node.raw)
            if kind is not None and kind.kind in _OUTWARD:
                return True
            waiting.extend(named_by(node, user.settings))
    return False


def _path_of(survey: Survey, name: Name, user: UserTree) -> str | None:
    folder = name.folder.removesuffix("/")
    if folder and not survey.allows(name.place, folder):
        return None
    return survey.find("workflow", name.name, user.workflow_folders(folder)) if name.name else None


def _key(kind: str, values: Sequence[object]) -> bytes:
    return orjson.dumps([kind, *values], option=orjson.OPT_SORT_KEYS)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
