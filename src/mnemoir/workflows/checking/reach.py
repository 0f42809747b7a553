"""The workflows that a user's messages can reach, and the calls that lead to them."""

from collections import deque
from collections.abc import Iterable, Iterator

from mnemoir.workflows.checking.circles import circles
from mnemoir.workflows.checking.discussions import check_needs
from mnemoir.workflows.checking.memories import check_memory, check_own_memories
from mnemoir.workflows.checking.nodes import check_node
from mnemoir.workflows.checking.paths import check_path
from mnemoir.workflows.checking.problem import FilePosition
from mnemoir.workflows.checking.references import check_references
from mnemoir.workflows.checking.survey import Survey
from mnemoir.workflows.checking.variables import Given, check_variables
from mnemoir.workflows.checking.workflows import Name, NodeAt, WorkflowAt, find_workflow, named_by, workflow_at
from mnemoir.workflows.config.tree import UserTree


class Reach:
    """The workflows of one user: those reached from the top-level ones, and those of the user's own folder."""

    def __init__(self, survey: Survey, user: UserTree) -> None:
        self._survey = survey
        self._user = user
        self._workflows: dict[str, WorkflowAt] = {}
        self._inputs: dict[str, list[int | None]] = {}  # for each workflow, the number of inputs of every call
        self._categorizers: set[str] = set()
        self._calls: dict[str, dict[str, Name]] = {}  # by caller and called; a call that always runs wins

    def stand_by(self, categorizer: str) -> None:
        """Add a categoriser that does not run because routing is off; its category variables are still valid."""
        if path := self._survey.find("workflow", categorizer, self._user.workflow_folders()):
            self._categorizers.add(path)

    def gather_own(self) -> None:
        """Add the other workflows in the user's folder."""
        for folder in self._user.workflow_folders():
            for path in self._survey.files(*folder):
                if path not in self._survey.no_workflows:
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
            for node in workflow.nodes:
                check_node(self._survey, node.place, node.raw)
                check_path(self._survey, node)
                check_references(self._survey, self._user, node)
                check_needs(self._survey, self._user, node)
                check_memory(self._survey, self._user, node)
            check_variables(self._survey, workflow, self._given(workflow.path))
        check_own_memories(self._survey, self.nodes())
        self._check_circles()

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

    def _given(self, path: str) -> Given:
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
            may_end = any(call.may_not_run for call in calls)
            cause = f"Workflows run in a circle: {names}."
            fix = "Make sure that it ends; a limit of depth ends it." if may_end else "Remove one of the calls."
            self._survey.report(calls[-1].place, cause, fix, "warning" if may_end else "error")

    def _place(self, path: str) -> FilePosition:
        return self._survey.place(path)
