"""Trial runs of workflows that are typed and not saved: they answer, and touch and keep nothing.

The typed text takes the place of its file for one run. Nodes that reach files or Python modules, take locks or write
to memory are left out, in the workflows that it runs as well, and so are node types of other packages; the trace says
so. It goes to the caller alone, with an error where the run ended with one.
"""

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from mnemoir.core.errors import InvalidRequest, MnemoirError, SettingsError
from mnemoir.core.events import Emit
from mnemoir.core.messages import ChatRequest
from mnemoir.core.runs import NodeTrace, RunTrace
from mnemoir.ports.run_store import RunWatcher
from mnemoir.workflows.checking.outward import OUTWARD_KINDS
from mnemoir.workflows.compiled import Compiler
from mnemoir.workflows.config.files import parse
from mnemoir.workflows.config.tree import ConfigTree, Glance
from mnemoir.workflows.config.workflow import WorkflowDefinition, read_workflow
from mnemoir.workflows.dispatch import Workflows
from mnemoir.workflows.engine import Engine
from mnemoir.workflows.node import Node, Types, ValueNode, node_types
from mnemoir.workflows.run import Caller
from mnemoir.workflows.services import Services
from mnemoir.workflows.step import Step

_LEFT_OUT = (*OUTWARD_KINDS, "WorkflowLock", "Remember")
_TASK = "trial"  # for which nothing is recalled, stored or part of a discussion


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedWorkflow:
    """The text of a workflow file, by its path in the tree; the file need not exist."""

    path: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A trial run that has ended; `run` is None where no workflow was asked. `error` is None for an answer."""

    run: RunTrace | None
    error: MnemoirError | None = None


class Trials:
    """Runs typed workflows of the users of a config tree, each by itself."""

    def __init__(
        self,
        services: Services,
        tree: ConfigTree,
        users: tuple[str, ...],
        answering: Workflows,
        watched: Callable[[RunWatcher], RunWatcher] = lambda runs: runs,
    ) -> None:
        """`watched` puts a watcher around that of each run."""
        self._watched = watched
        self._services = services
        self._tree = tree
        self._users = users
        self._answering = answering

    async def run(self, chat: ChatRequest, caller: Caller, typed: TypedWorkflow, emit: Emit) -> Trial:
        """Answer the chat by the typed workflow, as the user that its model names, and run the nodes behind it.

        Raises InvalidRequest for what is no workflow or names no user; a failure of the run is in the result.
        Cancelling the call ends everything.
        """
        answerer, workflow = self._answering.answerer(chat), _read(typed)
        assert answerer.user is not None  # there is a tree
        place = os.path.join(str(self._tree.root), *typed.path.split("/"))
        user = _TypedTree(answerer.user.name, self._tree, place, workflow)
        caller = replace(
            caller,
            memory=False,
            client_task=_TASK,
            is_temporary=True,
            answerer=replace(answerer, user=user, workflow=workflow),
        )
        ended = _Ended()
        engine = Engine(Compiler(_trial_types(), self._services), self._services)
        workflows = Workflows(engine, self._watched(ended), workflow, self._tree, self._users, grace_s=0)
        error = None
        try:
            try:
                await workflows.answer(chat, caller, emit)
            except MnemoirError as exc:
                error = exc
            return Trial(run=await ended.run if ended.is_begun else None, error=error)
        finally:
            await workflows.aclose()


class _Ended:
    """Waits for the end of one run."""

    def __init__(self) -> None:
        self.is_begun = False
        self.run: asyncio.Future[RunTrace] = asyncio.get_running_loop().create_future()

    def note_begin(self, run: RunTrace) -> None:
        """Note that there is a run to wait for."""
        self.is_begun = True

    def note_node(self, run: RunTrace, node: NodeTrace) -> None:
        """Nothing."""

    def note_end(self, run: RunTrace) -> None:
        """Keep the trace for the caller."""
        if not self.run.done():
            self.run.set_result(run)


class _TypedTree(Glance):
    """The tree as a user sees it, with the typed workflow in the place of its file."""

    def __init__(self, name: str, tree: ConfigTree, place: str, typed: WorkflowDefinition) -> None:
        super().__init__(name, tree)
        self._place = place
        self._typed = typed

    def workflow(self, name: str, folder: str = "") -> WorkflowDefinition:
        """The typed workflow for the name of its file, else that of the file."""
        found = self.tree.find("workflow", name, self.workflow_folders(folder))
        return self._typed if found is not None and found.path == self._place else super().workflow(name, folder)


def _read(typed: TypedWorkflow) -> WorkflowDefinition:
    folder, _, file = typed.path.partition("/")[2].rpartition("/")
    try:
        raw = parse(typed.path, typed.text.encode())
        return read_workflow(os.path.splitext(file)[0], raw, folder)
    except SettingsError as exc:
        raise InvalidRequest(exc.message, code="broken_workflow") from exc


@cache
def _trial_types() -> Types:
    return {name: kind if _is_harmless(kind) else _left_out(kind) for name, kind in node_types().items()}


def _is_harmless(kind: type[Node[Any]]) -> bool:
    return kind.__module__.startswith("mnemoir.") and kind.kind not in _LEFT_OUT


def _left_out(left: type[Node[Any]]) -> type[Node[Any]]:
    """A node type of the same properties that does nothing and outputs nothing."""

    class LeftOut(ValueNode[Any]):
        kind = left.kind
        aliases = left.aliases
        properties_type = left.properties_type

        async def value(self, step: Step) -> str:
            step.note(f"Left out: a trial of what is typed runs no {left.kind}.")
            return ""

    return LeftOut
