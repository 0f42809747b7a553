"""Checks of users: the settings, the files they name, and every workflow that is reached from there."""

import os
from collections import deque
from collections.abc import Iterable, Iterator

from mnemoir.workflows.checking.answering import hint_at_dropped_tools
from mnemoir.workflows.checking.discussions import check_discussion_settings, check_needs, keys_used_by, set_apart
from mnemoir.workflows.checking.endpoints import check_endpoints, circles
from mnemoir.workflows.checking.nodes import check_node
from mnemoir.workflows.checking.references import (
    check_discussion_directory,
    check_memory,
    check_own_memories,
    check_path,
    check_references,
)
from mnemoir.workflows.checking.survey import FilePosition, Survey
from mnemoir.workflows.checking.variables import Given, check_variables
from mnemoir.workflows.checking.workflows import (
    Name,
    NodeAt,
    WorkflowAt,
    find_workflow,
    named_by,
    tools_of,
    workflow_at,
)
from mnemoir.workflows.config.endpoint import PromptTemplate
from mnemoir.workflows.config.routing import RoutingTable
from mnemoir.workflows.config.tree import DISCUSSION_SETTINGS, UserTree
from mnemoir.workflows.config.user import UserSettings

_DEFAULT = "_DefaultWorkflow"  # runs when no category is found, and when a shared folder is asked for


class Reach:
    """The workflows of one user: those reached from the top-level ones, and those of the user's own folder."""

    def __init__(self, survey: Survey, user: UserTree) -> None:
        self._survey = survey
        self._user = user
        self._workflows: dict[str, WorkflowAt] = {}
        self._inputs: dict[str, list[int | None]] = {}  # for each workflow, the number of inputs of every call
        self._read: set[str] = set()  # also files that are no workflows
        self._categorizers: set[str] = set()
        self._idle: set[str] = set()  # those that only a switch of the settings keeps from running
        self._calls: dict[str, dict[str, Name]] = {}  # by caller and called; a call that always runs wins

    def stand_by(self, categorizer: str) -> None:
        """Add a categoriser that does not run because routing is off; its category variables are still valid."""
        if path := self._survey.find("workflow", categorizer, self._user.workflow_folders()):
            self._categorizers.add(path)

    def gather_idle(self, names: Iterable[str]) -> None:
        """Add what these workflows reach and no other does; its faults are warnings. A missing one is no problem."""
        before = set(self._read)
        with self._survey.only_warning(True):
            for name in names:
                if path := self._survey.find("workflow", name, self._user.workflow_folders()):
                    self._gather(path)
        self._idle = self._read - before

    def gather_own(self) -> None:
        """Add the other workflows in the user's folder."""
        for folder in self._user.workflow_folders():
            for path in self._survey.files(*folder):
                if path not in self._survey.no_workflows and path not in self._idle:
                    self._gather(path)

    def nodes(self) -> Iterator[NodeAt]:
        """The nodes of all workflows added so far."""
        return (node for workflow in self._workflows.values() for node in workflow.nodes)

    def start_at(self, name: Name, *, categorizes: bool = False) -> None:
        """Add the workflow that the user's settings or routing table name, and all that it calls."""
        path = self._follow(name)
        if path and categorizes:
            self._categorizers.add(path)

    def check(self) -> None:
        """Check all workflows that were added."""
        for workflow in self._workflows.values():
            with self._survey.only_warning(workflow.path in self._idle):
                self._check_workflow(workflow)
        check_own_memories(self._survey, self.nodes())
        self._check_circles()

    def _check_workflow(self, workflow: WorkflowAt) -> None:
        for node in workflow.nodes:
            check_node(self._survey, node.place, node.raw)
            check_path(self._survey, node)
            check_references(self._survey, self._user, node)
            check_needs(self._survey, self._user, node)
            check_memory(self._survey, self._user, node)
        check_variables(self._survey, workflow, self._given_variables(workflow.path))

    def _follow(self, name: Name) -> str | None:
        path = find_workflow(self._survey, self._user, name)
        if path:
            self._inputs.setdefault(path, []).append(name.inputs)
            self._gather(path)
        return path

    def _gather(self, path: str) -> None:
        """Add the workflow and all that it calls. Without recursion, because calls may form a circle."""
        waiting = deque([path])
        while waiting:
            path = waiting.popleft()
            self._read.add(path)
            self._survey.gathered.add(path)
            workflow = None if path in self._workflows else workflow_at(self._survey, path)
            if workflow is not None:
                self._workflows[path] = workflow
                waiting.extend(self._called_by(workflow))

    def _called_by(self, workflow: WorkflowAt) -> Iterable[str]:
        calls = self._calls.setdefault(workflow.path, {})
        for node in workflow.nodes:
            for name in named_by(node, self._user.settings):
                called = find_workflow(self._survey, self._user, name)
                if called is None:
                    continue
                self._inputs.setdefault(called, []).append(name.inputs)
                if called not in calls or calls[called].may_not_run:
                    calls[called] = name
        return list(calls)

    def _given_variables(self, path: str) -> Given:
        ways = self._inputs.get(path, [None])
        known = [count for count in ways if count is not None]
        return Given(
            inputs=max(known) if len(known) == len(ways) else None,
            categories=path in self._categorizers,
            user_wide=self._user.settings.variables,
        )

    def _check_circles(self) -> None:
        for way in circles({path: list(calls) for path, calls in self._calls.items()}):
            calls = [self._calls[path][called] for path, called in zip(way, [*way[1:], way[0]], strict=True)]
            names = " → ".join(self._place(path).file for path in (*way, way[0]))
            may_end = any(call.may_not_run for call in calls) or not self._idle.isdisjoint(way)
            cause = f"Workflows run in a circle: {names}."
            fix = "Make sure that it ends; a limit of depth ends it." if may_end else "Remove one of the calls."
            self._survey.report(calls[-1].place, cause, fix, "warning" if may_end else "error")

    def _place(self, path: str) -> FilePosition:
        return self._survey.place(path)


def check_user(survey: Survey, name: str, named_at: FilePosition) -> None:
    """Check one user. `named_at` is the position that names the user, where a missing user is reported."""
    path = survey.locate(named_at, "user", name.lower(), [("Users",)])
    settings = survey.file_as_model(path, UserSettings) if path else None
    if path is None or settings is None:
        return
    place = survey.place(path)
    if not _has_sound_folders(survey, place, settings):
        return
    _check_places(survey, place, settings)
    user = UserTree(name, survey.tree)
    if settings.chat_template:
        _check_template(survey, place / "chatPromptTemplateName", settings.chat_template)
    check_endpoints(survey, user)
    reach = Reach(survey, user)
    tops = list(_tops(survey, place, settings, user))
    for top, categorizes in tops:
        reach.start_at(top, categorizes=categorizes)
    if settings.always_custom_workflow:
        reach.stand_by(settings.categorization_workflow)
    reach.gather_idle(_idle_tops(survey, settings))
    set_apart(survey, user)
    reach.gather_own()
    _check_memory(survey, place, user, reach)
    reach.check()
    hint_at_dropped_tools(survey, user, (top for top, categorizes in tops if not categorizes))


def _check_memory(survey: Survey, place: FilePosition, user: UserTree, reach: Reach) -> None:
    """Check the workflows and settings of discussion memory; only warnings when no node uses them."""
    used = {key for node in reach.nodes() for key in keys_used_by(node.raw)}
    for key, tool in tools_of(user.settings).items():
        if tool:
            with survey.only_warning(key not in used):
                reach.start_at(Name(place=place / key, name=tool, inputs=None))
    with survey.only_warning(DISCUSSION_SETTINGS not in used):
        for maker in check_discussion_settings(survey, user, place):
            reach.start_at(maker)


def _has_sound_folders(survey: Survey, place: FilePosition, settings: UserSettings) -> bool:
    """True when the names of all folders are allowed; else each wrong one is reported."""
    folders = {
        "endpointConfigsSubDirectory": settings.endpoint_folder,
        "presetConfigsSubDirectoryOverride": settings.preset_folder,
        "workflowConfigsSubDirectoryOverride": settings.workflow_folder,
        "sharedWorkflowsSubDirectoryOverride": settings.shared_folder,
    }
    named = {key: folder.removesuffix("/") for key, folder in folders.items()}
    sound = [survey.allows(place / key, folder) for key, folder in named.items() if folder]
    return all(sound)


def _check_places(survey: Survey, place: FilePosition, settings: UserSettings) -> None:
    """Check directories: writable, and not Windows paths, which would become oddly named folders here."""
    places = {"discussionDirectory": settings.discussion_directory, "sqlLiteDirectory": settings.lock_directory}
    for key, written in places.items():
        if os.name != "nt" and "\\" in written:
            cause = "This is a Windows path; the default folder is used instead."
            survey.report(place / key, cause, "Give a path of this system, or none.", "warning")
    check_discussion_directory(survey, place / "discussionDirectory", settings)


def _check_template(survey: Survey, place: FilePosition, name: str) -> None:
    if path := survey.locate(place, "prompt template", name, [("PromptTemplates",)]):
        survey.file_as_model(path, PromptTemplate)


def _tops(survey: Survey, place: FilePosition, settings: UserSettings, user: UserTree) -> Iterator[tuple[Name, bool]]:
    """The top-level workflows of a message, and for each whether it is the categoriser."""
    if settings.only_shares:
        if not user.shared_folders():
            inner = place / "sharedWorkflowsSubDirectoryOverride"
            cause = "The user has no workflow: routingConfig is empty, and there are no folders of shared workflows."
            survey.report(inner, cause, "Name the folder that holds them, or a workflow of the user's own.")
    elif settings.always_custom_workflow:
        yield Name(place=place / "customWorkflow", name=settings.custom_workflow), False
    else:
        yield Name(place=place / "categorizationWorkflow", name=settings.categorization_workflow), True
        yield from ((name, False) for name in _routes(survey, place / "routingConfig", settings.routing))
        if not user.has_workflow(_DEFAULT):
            cause = f"There is no workflow {_DEFAULT}, which runs when no category is found."
            survey.report(place / "routingConfig", cause, "Add one to the user's workflows.", "warning")
    if settings.shares_workflows:
        shared = settings.shared_folder.removesuffix("/")
        for folder in user.shared_folders():
            inner = place / "sharedWorkflowsSubDirectoryOverride"
            yield Name(place=inner, name=_DEFAULT, folder=f"{shared}/{folder}"), False


def _idle_tops(survey: Survey, settings: UserSettings) -> Iterator[str]:
    """The names of the top-level workflows that the switch of the settings does not use."""
    if settings.only_shares or not settings.always_custom_workflow:
        yield settings.custom_workflow
    if settings.only_shares or settings.always_custom_workflow:
        yield from (settings.categorization_workflow, _DEFAULT)
    if settings.always_custom_workflow and (path := survey.find("routing", settings.routing, [("Routing",)])):
        with survey.only_warning(True):
            table = survey.file_as_model(path, RoutingTable)
        yield from (route.workflow for route in table.root.values()) if table else ()


def _routes(survey: Survey, place: FilePosition, name: str) -> Iterator[Name]:
    path = survey.locate(place, "routing", name, [("Routing",)])
    table = survey.file_as_model(path, RoutingTable) if path else None
    if path is None or table is None:
        return
    inner = survey.place(path)
    if not table.root:
        survey.report(inner, "There are no categories.", "Add some, or set customWorkflowOverride.", "warning")
    for category, route in table.root.items():
        yield Name(place=inner / category / "workflow", name=route.workflow)
