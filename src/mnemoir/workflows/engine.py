"""The engine: runs a workflow's nodes in order and yields what they say, as they say it.

Nodes before the responder prepare its request. The responder's events go to the client untouched. Nodes behind it
run when the client has its answer, on their own task, so that a client that closes the finished stream takes nothing
with it; only a node marked `beforeClose` runs between the last word and the end of the answer, and such a node must
be quick: it is for writing down what must not be lost.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from time import perf_counter

import structlog

from mnemoir.core.errors import MnemoirError, ProviderUnavailable, SettingsError
from mnemoir.core.events import Event, NodeFinished, NodeStarted
from mnemoir.core.messages import ChatRequest
from mnemoir.workflows.caller import Caller
from mnemoir.workflows.definition import NodeDefinition, WorkflowDefinition
from mnemoir.workflows.run import Node, Run

NodeFactory = Callable[[NodeDefinition], Node]

_log = structlog.get_logger(__name__)
_GRACE_S = 5.0  # what nodes behind the responder get to finish when the server stops


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    definition: NodeDefinition
    node: Node


class Engine:
    """Runs one workflow for many callers at a time."""

    def __init__(self, workflow: WorkflowDefinition, factories: Mapping[str, NodeFactory]) -> None:
        """Make the nodes. Raises SettingsError for a type that no factory makes, or without a responder."""
        steps = [_Step(definition=node, node=_make(workflow, node, factories)) for node in workflow.nodes]
        responder = _responder(workflow)
        self._before = steps[:responder]
        self._responder = steps[responder]
        behind = steps[responder + 1 :]
        self._closing = [step for step in behind if step.definition.properties.get("beforeClose") is True]
        self._after = [step for step in behind if step not in self._closing]
        self._background: set[asyncio.Task[None]] = set()

    async def run(self, chat: ChatRequest, caller: Caller) -> AsyncGenerator[Sequence[Event], None]:
        """The events of one answer, batch by batch; a complete one ends with Finished.

        Closing the iterator early ends the model call. Raises what the responder raises (MnemoirError).
        """
        run = Run(chat=chat, caller=caller, request=chat.request)
        for step in self._before:
            async for batch in _guarded(step, run):
                yield batch
        closing = [step for step in self._closing if step.node.applies(run)]
        async with aclosing(self._responder.node.run(run)) as batches:
            async for batch in batches:
                run.note(batch)
                if run.finished is None or not closing:
                    yield batch
                elif rest := [event for event in batch if event is not run.finished]:
                    yield rest
        if run.finished is None:
            raise ProviderUnavailable("The model's answer ended before it was complete. Ask again.")
        if closing:
            for step in closing:
                async for batch in _guarded(step, run):
                    yield batch
            yield [run.finished]
        self._go_on(run)

    async def aclose(self) -> None:
        """Let the nodes behind the responder finish, for a few seconds, then cancel them."""
        if not self._background:
            return
        _, late = await asyncio.wait(self._background, timeout=_GRACE_S)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)

    def _go_on(self, run: Run) -> None:
        steps = [step for step in self._after if step.node.applies(run)]
        if not steps:
            return
        task = asyncio.create_task(_run_all(steps, run), name="nodes behind the responder")
        self._background.add(task)
        task.add_done_callback(self._background.discard)


async def _run_all(steps: Sequence[_Step], run: Run) -> None:
    for step in steps:
        async for _ in _guarded(step, run):
            pass  # the client is gone; NodeFinished is for those who still listen


async def _guarded(step: _Step, run: Run) -> AsyncGenerator[Sequence[Event], None]:
    """Run a node that is not the responder: its failure is told in NodeFinished and stops nobody's answer."""
    if not step.node.applies(run):
        return
    title, kind = step.definition.title, step.definition.type
    started, error = perf_counter(), None
    yield [NodeStarted(node=title, type=kind)]
    try:
        async for batch in step.node.run(run):
            yield batch
    except MnemoirError as exc:
        error = exc.message
        _log.warning("node failed", node=title, type=kind, code=exc.code)
        _log.debug("node failed", node=title, type=kind, error=error)  # it may quote what a person said
    yield [NodeFinished(node=title, type=kind, duration_ms=(perf_counter() - started) * 1e3, error=error)]


def _make(workflow: WorkflowDefinition, node: NodeDefinition, factories: Mapping[str, NodeFactory]) -> Node:
    factory = factories.get(node.type)
    if factory is None:
        known = ", ".join(sorted(factories))
        raise SettingsError(
            f"Workflow {workflow.name}: node {node.title!r} has the unknown type {node.type!r}. Use one of: {known}."
        )
    return factory(node)


def _responder(workflow: WorkflowDefinition) -> int:
    """The node marked `returnToUser`, else the last Standard one."""
    marked = [i for i, node in enumerate(workflow.nodes) if node.properties.get("returnToUser") is True]
    standard = [i for i, node in enumerate(workflow.nodes) if node.type == "Standard"]
    if not marked and not standard:
        raise SettingsError(f"Workflow {workflow.name} has no node that answers. Add one of type Standard.")
    return marked[0] if marked else standard[-1]
