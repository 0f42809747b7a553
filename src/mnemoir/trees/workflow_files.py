"""Read-only views of the served config tree: its files, users and problems, and workflows as graphs.

No file is changed here (`app.workflow_edits` does) and no secret is returned. All work is done in a thread, on a tree
opened for it: the tree that answers chats belongs to the event loop. Without a tree there is one file, the built-in
workflow.
"""

import asyncio
import os
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import files
from pathlib import Path

import orjson

from mnemoir.core.clock import now_text
from mnemoir.core.errors import InvalidRequest, NotFound, SettingsError
from mnemoir.core.text import folded_name
from mnemoir.storage.user_pool import in_thread
from mnemoir.trees.served import Served, UntilChanged
from mnemoir.workflows.checking import Outside, Problem, check
from mnemoir.workflows.checking.survey import Survey
from mnemoir.workflows.checking.workflows import workflow_at
from mnemoir.workflows.config.shown import (
    ConfigFile,
    ConfigText,
    absent,
    config_text,
    listed_files,
    shown_text,
    without_secrets,
)
from mnemoir.workflows.config.tree import ConfigTree, UserTree
from mnemoir.workflows.config.workflow import default_workflow, read_workflow
from mnemoir.workflows.dispatch import DEFAULT_ROUTE
from mnemoir.workflows.graph import WorkflowGraph, graph_of, user_of
from mnemoir.workflows.node import node_types
from mnemoir.workflows.remembering import can_remember

BUILT_IN = "Workflows/default.json"
_NOWHERE = os.path.abspath("built-in")  # nothing is ever read there


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A workflow that may receive a message first. `when` is the category that leads to it, None for any message.

    `path` is None where there is no such file. With categories, the workflow without one is the categoriser.
    """

    name: str
    path: str | None
    when: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigUser:
    """A user of the tree. `models` are the model names with which clients call this user's workflows.

    `problem` says why its first workflows are unknown, "" when they are known.
    """

    name: str
    path: str
    is_served: bool
    is_current: bool
    models: Sequence[str]
    starts: Sequence[Start]
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigOverview:
    """The files and users of the tree. `root` is its folder, None for the built-in workflow."""

    root: str | None
    users: Sequence[ConfigUser]
    models: Sequence[str]
    files: Sequence[ConfigFile]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigProblems:
    """The output of `mnemoir check` for the whole tree, and the time of the check."""

    problems: Sequence[Problem]
    errors: int
    warnings: int
    checked_at: str


class WorkflowFiles:
    """Reads the tree again for every call; only its problems are cached until a file changes."""

    def __init__(self, served: Served | None, outside: Outside) -> None:
        self._served = served
        self._checking = asyncio.Lock()
        self._problems = (
            None if served is None else UntilChanged(served.tree.root, partial(_problems_of_tree, outside))
        )

    async def overview(self, models: Sequence[str]) -> ConfigOverview:
        """All files and users; `models` are the model names that clients may use."""
        return await in_thread(self._overview, models)

    async def text(self, path: str) -> ConfigText:
        """The text of a file. Raises InvalidRequest, NotFound, TooLarge."""
        if self._served is None:
            return _built_in_text(path)
        return await in_thread(_text, ConfigTree(self._served.tree.root), path)

    async def graph(self, path: str, user: str | None) -> WorkflowGraph:
        """One workflow as `user` runs it, by default the user whose folder it is in. Raises like `text`."""
        return await in_thread(self._graph, path, user)

    async def problems(self) -> ConfigProblems:
        """The result of the whole check. Concurrent callers share one check."""
        if self._problems is None:
            return problems_for_display([])
        async with self._checking:
            return await in_thread(self._problems.get)

    def _overview(self, models: Sequence[str]) -> ConfigOverview:
        if self._served is None:
            text = _built_in_text(BUILT_IN)
            size = len(text.text.encode())
            remembers = can_remember(default_workflow(), None)
            only = ConfigFile(
                path=BUILT_IN, kind="workflows", size_bytes=size, modified_at=None, can_remember=remembers
            )
            return ConfigOverview(root=None, users=[], models=models, files=[only])
        tree = ConfigTree(self._served.tree.root)
        found = list(listed_files(str(tree.root)))
        users = [self._user(tree, file.path, models) for file in found if file.kind == "users"]
        settings = discussion_settings(tree)
        listed = [replace(one, kind="discussion-settings") if one.path in settings else one for one in found]
        survey, sound = Survey(tree, node_types()), self.sound_users(tree)
        shown = [replace(one, can_remember=_remembers(survey, sound, one)) for one in listed]
        return ConfigOverview(root=str(tree.root), users=users, models=models, files=shown)

    def _user(self, tree: ConfigTree, path: str, models: Sequence[str]) -> ConfigUser:
        assert self._served is not None
        name = os.path.splitext(path.rpartition("/")[2])[0]
        served = next((one for one in self._served.users if one.lower() == name.lower()), None)
        user, starts, problem = UserTree(served or name, tree), [], ""
        try:
            starts = list(_starts(user))
        except SettingsError as exc:
            problem = _safe(exc.message)
        own = [model for model in models if served and model.partition(":")[0] == served]
        return ConfigUser(
            name=served or name,
            path=path,
            is_served=served is not None,
            is_current=_is_current(tree, name),
            models=own,
            starts=starts,
            problem=problem,
        )

    def _graph(self, path: str, user: str | None) -> WorkflowGraph:
        if self._served is None:
            return _built_in_graph(path)
        tree = ConfigTree(self._served.tree.root)
        if _text(tree, path).kind != "workflows":
            raise InvalidRequest(f"{path} is no workflow.", field="path")
        survey = Survey(tree, node_types())
        workflow = workflow_at(survey, os.path.join(str(tree.root), *path.split("/")))
        if workflow is None:
            raise InvalidRequest(_text_of_problems(survey.problems()), code="broken_workflow")
        return graph_of(survey, workflow, self._whose(tree, path, user))

    def sound_users(self, tree: ConfigTree) -> Sequence[UserTree]:
        """The users whose settings can be read, served users first: their reading of the tree counts."""
        assert self._served is not None
        names = dict.fromkeys([*self._served.users, *tree.user_names()])
        return [user for user in (UserTree(name, tree) for name in names) if _is_sound(user)]

    def _whose(self, tree: ConfigTree, path: str, named: str | None) -> UserTree | None:
        sound = self.sound_users(tree)
        if not named:
            return user_of(path, sound)
        found = next((user for user in sound if user.name.lower() == named.lower()), None)
        if found is None:
            raise NotFound(f"There is no user {named[:80]!r} in the config tree, or its file is broken.")
        return found


def _starts(user: UserTree) -> Iterator[Start]:
    settings = user.settings
    if settings.always_custom_workflow:
        yield _start(user, settings.custom_workflow)
    else:
        yield _start(user, settings.categorization_workflow)
        for category, route in user.routing(settings.routing).root.items():
            yield _start(user, route.workflow, category)
        yield _start(user, DEFAULT_ROUTE, "no category")
    if settings.shares_workflows:
        for folder in user.shared_folders():
            if not folder.startswith("_"):
                shared = f"{settings.shared_folder.removesuffix('/')}/{folder}"
                yield _start(user, DEFAULT_ROUTE, f"model {user.name}:{folder}", shared)


def _start(user: UserTree, name: str, when: str | None = None, folder: str = "") -> Start:
    try:
        found = user.tree.find("workflow", name, user.workflow_folders(folder)) if name else None
    except SettingsError:
        found = None
    return Start(name=name, path=user.tree.lookup.relative(found.path) if found else None, when=when)


def _remembers(survey: Survey, users: Sequence[UserTree], file: ConfigFile) -> bool | None:
    """True when a workflow, run by its user, can remember; None for broken files and those that are no workflow."""
    if file.kind != "workflows":
        return None
    folder, _, name = file.path.partition("/")[2].rpartition("/")
    try:
        raw = survey.raw(os.path.join(str(survey.tree.root), *file.path.split("/")))
        workflow = read_workflow(os.path.splitext(name)[0], raw, folder)
        return can_remember(workflow, user_of(file.path, users))
    except SettingsError:
        return None


def _text(tree: ConfigTree, path: str) -> ConfigText:
    found = shown_text(str(tree.root), path)
    return replace(found, kind="discussion-settings") if path in discussion_settings(tree) else found


def discussion_settings(tree: ConfigTree) -> Set[str]:
    """The discussion settings files in workflow folders, as users name them."""
    return {path for name in tree.user_names() if (path := _discussion_settings_of(UserTree(name, tree)))}


def _discussion_settings_of(user: UserTree) -> str | None:
    try:
        named = user.settings.discussion_settings
        found = user.tree.find("workflow", named, user.workflow_folders()) if named else None
    except SettingsError:
        return None
    return user.tree.lookup.relative(found.path) if found else None


def _is_current(tree: ConfigTree, name: str) -> bool:
    try:
        return folded_name(tree.current_user() or "") == folded_name(name)
    except SettingsError:
        return False


def _is_sound(user: UserTree) -> bool:
    try:
        _ = user.settings
        user.workflow_folders()
    except SettingsError:
        return False
    return True


def _problems_of_tree(outside: Outside, tree: ConfigTree) -> ConfigProblems:
    return problems_for_display(check(tree, [], node_types(), outside))


def problems_for_display(problems: Sequence[Problem]) -> ConfigProblems:
    """The problems for display, with their numbers."""
    shown = [replace(one, file=_printable(one.file), cause=_safe(one.cause), fix=_safe(one.fix)) for one in problems]
    errors = sum(one.level == "error" for one in shown)
    return ConfigProblems(problems=shown, errors=errors, warnings=len(shown) - errors, checked_at=now_text())


def _text_of_problems(problems: Sequence[Problem]) -> str:
    return _safe(" ".join(f"{one.cause} {one.fix}" for one in problems))


def _safe(text: str) -> str:
    """`text` without secrets and lone surrogates: it may quote files and their names."""
    return without_secrets(_printable(text))


def _printable(text: str) -> str:
    """`text` without lone surrogates (from file names that are not UTF-8), which JSON cannot hold."""
    return text.encode("utf-8", "replace").decode()


def _built_in_text(path: str) -> ConfigText:
    if path != BUILT_IN:
        raise absent(path)
    text = files("mnemoir.workflows").joinpath("default.json").read_text(encoding="utf-8")
    return config_text(path, text.encode())


def _built_in_graph(path: str) -> WorkflowGraph:
    raw = orjson.loads(_built_in_text(path).text)
    survey = Survey(ConfigTree(Path(_NOWHERE)), node_types())
    place = os.path.join(_NOWHERE, *BUILT_IN.split("/"))
    survey.read[place] = raw
    workflow = workflow_at(survey, place)
    assert workflow is not None
    return graph_of(survey, workflow, None)
