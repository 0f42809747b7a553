"""The engine: runs a workflow's nodes in order and yields what they say, as they say it.

Nodes before the responder prepare its answer. The responder's events go to the client as they come. Nodes behind it
run when the client has its answer, on a task of their own, so that a client that closes the finished stream takes
nothing with it. A node marked `beforeClose` runs between the last word and the end of the answer; such a node must be
quick: it is for writing down what must not be lost.
"""

import asyncio
import uuid
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

import structlog

from mnemoir.core.errors import MnemoirError, WorkflowStopped
from mnemoir.core.events import Event, Finished, MemoriesRecalled, NodeFinished, NodeStarted, Text
from mnemoir.core.runs import MOST_TRACED_CHARACTERS, NodeTrace, WorkflowTrace
from mnemoir.workflows.compiled import CompiledNode, CompiledWorkflow, Compiler
from mnemoir.workflows.config.workflow import WorkflowDefinition
from mnemoir.workflows.node import ModelProperties
from mnemoir.workflows.run import NO_OVERRIDES, Overrides, Rest, Run, Turn
from mnemoir.workflows.services import Services
from mnemoir.workflows.step import UNSET, Step, WorkflowEnded
from mnemoir.workflows.timing import Times
from mnemoir.workflows.tracing import shown

Batches = AsyncGenerator[Sequence[Event], None]

_log = structlog.get_logger(__name__)


class Engine:
    """Runs workflows for many requests at a time. It keeps nothing of any of them."""

    def __init__(self, compiler: Compiler, services: Services) -> None:
        self._compiler = compiler
        self._services = services
        self._times = Times(services)
        self._is_stopping = False

    def stop(self) -> None:
        """From now on no model is asked behind an answer; what is asked already may finish."""
        self._is_stopping = True

    async def answer(self, turn: Turn, workflow: WorkflowDefinition) -> Batches:
        """The answer of a workflow to the client. What runs behind it is left in `turn.rest`.

        A workflow that ended without an answer, or has no nodes, answers with nothing. Raises MnemoirError.
        """
        run = self._new_run(turn, workflow)
        turn.trace.workflows.append(run.trace)
        try:
            async with aclosing(self._until_answered(run)) as batches:
                async for batch in batches:
                    yield batch
        except WorkflowEnded as ended:
            _log.info("workflow ended early", workflow=workflow.name, reason=str(ended))
        if turn.finished is None:
            _log.warning("workflow gave no answer", workflow=workflow.name)
            yield [Finished()]

    async def decide(self, turn: Turn, workflow: WorkflowDefinition, categories: dict[str, object]) -> object:
        """The output of a workflow that answers the server and not the client; None when it has none."""
        run = self._new_run(turn, workflow, is_silent=True)
        run.categories = categories
        turn.trace.workflows.append(run.trace)
        return await self._output(run)

    async def run_rest(self, turn: Turn) -> None:
        """The nodes behind the responder, those of inner workflows first. The first failure ends it, in the log."""
        try:
            for rest in turn.rest:
                await self._rest(rest)
        except WorkflowEnded:
            return
        except MnemoirError as exc:
            turn.trace.error = exc.message
            _log.warning("node behind the answer failed", code=exc.code)
            _log.debug("node behind the answer failed", error=exc.message)  # it may quote what a person said
        finally:
            for rest in turn.rest:
                await self._release(rest.run)

    def closing(self, turn: Turn, workflow: WorkflowDefinition) -> list[int]:
        """The indexes of nodes that are to run before the answer's end, and have something to do."""
        run, compiled = self._new_run(turn, workflow), self._compiler.compiled(workflow)
        return [
            index
            for index, node in enumerate(compiled.nodes)
            if node.properties.before_close and node.node.applies(self._new_step(run, index, compiled))
        ]

    async def close(self, turn: Turn, indexes: Sequence[int]) -> None:
        """Run those nodes of the answering workflow; a failure is told in the trace and stops nobody's answer."""
        if not turn.rest:
            return
        run = turn.rest[-1].run
        for index in indexes:
            try:
                await self._drain(run, index)
            except MnemoirError as exc:
                title = run.workflow.nodes[index].title
                _log.warning("node failed", node=title, code=exc.code)
                _log.debug("node failed", node=title, error=exc.message)

    def has_rest(self, turn: Turn) -> bool:
        """Whether anything is left to do behind the answer."""
        return any(
            rest.run.lock_database is not None
            or any(not node.properties.before_close for node in self._nodes(rest.run)[rest.first :])
            for rest in turn.rest
        )

    async def run_child(
        self,
        step: Step,
        name: str,
        *,
        folder: str = "",
        inputs: Sequence[object] = (),
        overrides: Overrides = NO_OVERRIDES,
        silent: bool = True,
    ) -> Batches:
        """See `SubWorkflows`."""
        parent = step.run
        most = self._services.limits.most_depth
        if parent.depth >= most:
            raise WorkflowStopped(
                f"Workflow {name} would run {most + 1} deep. End the circle of workflows, "
                "or raise workflows.most_depth."
            )
        child = self._new_run(parent.turn, step.user.workflow(name, folder), is_silent=silent or parent.is_silent)
        child.depth, child.inputs, child.overrides = parent.depth + 1, inputs, overrides
        step.trace.children.append(child.trace)
        if child.is_silent:
            step.output = await self._output(child)
            return
        async with aclosing(self._until_answered(child)) as batches:
            async for batch in batches:
                yield batch
        responder = self._compiler.compiled(child.workflow).responder
        step.output = child.outputs.get(responder + 1)

    def _new_run(self, turn: Turn, workflow: WorkflowDefinition, *, is_silent: bool = False) -> Run:
        trace = WorkflowTrace(name=workflow.name, folder=workflow.folder)
        return Run(id=uuid.uuid4().hex, turn=turn, workflow=workflow, trace=trace, is_silent=is_silent)

    def _nodes(self, run: Run) -> Sequence[CompiledNode]:
        return self._compiler.compiled(run.workflow).nodes

    async def _output(self, run: Run) -> object:
        """Run a silent workflow to its end; what its responder gave."""
        compiled = self._compiler.compiled(run.workflow)
        try:
            await self._times.begin(run, compiled)
            for index in range(len(compiled.nodes)):
                await self._drain(run, index)
        finally:
            await self._release(run)
        return run.outputs.get(compiled.responder + 1)

    async def _until_answered(self, run: Run) -> Batches:
        """The nodes up to the responder: its events, and of those before it only notices."""
        compiled = self._compiler.compiled(run.workflow)
        try:
            await self._times.begin(run, compiled)
            for index in range(compiled.responder + 1):
                async with aclosing(self._step(run, index, compiled)) as batches:
                    async for batch in batches:
                        yield batch
        except BaseException:
            await self._release(run)
            raise
        run.turn.rest.append(Rest(run=run, first=compiled.responder + 1))

    async def _rest(self, rest: Rest) -> None:
        nodes = self._nodes(rest.run)
        for index in range(rest.first, len(nodes)):
            if not nodes[index].properties.before_close:
                await self._drain(rest.run, index)

    async def _drain(self, run: Run, index: int) -> None:
        async with aclosing(self._step(run, index, self._compiler.compiled(run.workflow))) as batches:
            async for _ in batches:
                pass  # nobody listens; the trace and the outputs keep what matters

    async def _release(self, run: Run) -> None:
        if run.lock_database is not None:
            database, run.lock_database = run.lock_database, None
            await self._services.locks.release(database, run=run.id)

    async def _step(self, run: Run, index: int, compiled: CompiledWorkflow) -> Batches:
        """One node: its events, and NodeStarted and NodeFinished around them unless they are the answer itself."""
        node = compiled.nodes[index]
        step = self._new_step(run, index, compiled)
        if not node.node.applies(step):
            return
        self._check(run, node)
        run.trace.nodes.append(step.trace)
        title, kind = node.definition.title, node.definition.type
        tells = not step.answers_client
        if tells:
            yield [NodeStarted(node=title, type=kind)]
        try:
            await self._times.before(step, node)
            async with aclosing(self._said(step, node)) as batches:
                async for batch in batches:
                    if not tells:
                        yield batch
                    elif notices := [event for event in batch if isinstance(event, MemoriesRecalled)]:
                        yield notices
            await self._times.after(step, node)
        except (Exception, asyncio.CancelledError) as exc:
            step.trace.error = _told(exc)
            raise
        finally:
            step.trace.duration_ms = run.turn.elapsed_ms() - step.trace.started_ms
        if tells:
            yield [NodeFinished(node=title, type=kind, duration_ms=step.trace.duration_ms or 0.0)]

    async def _said(self, step: Step, node: CompiledNode) -> Batches:
        """What the node says, within its time; its output is kept, and framed where it is the client's answer."""
        texts: list[str] = []
        async with aclosing(self._in_time(step, node)) as batches:
            async for batch in batches:
                texts += [event.text for event in batch if event.__class__ is Text]
                if texts and step.trace.first_token_ms is None:
                    step.trace.first_token_ms = step.run.turn.elapsed_ms()
                yield batch
        if step.output is UNSET:
            step.output = "".join(texts)
        step.run.outputs[step.definition.number] = step.output
        step.trace.output = shown(step.output)[:MOST_TRACED_CHARACTERS]
        if step.answers_client and step.run.turn.finished is None:
            text = "" if texts else shown(step.output)
            yield [*([Text(text)] if text else []), Finished()]

    async def _in_time(self, step: Step, node: CompiledNode) -> Batches:
        limit_s = node.properties.timeout_s or self._services.limits.node_timeout_s
        end = asyncio.get_running_loop().time() + limit_s
        batches = node.node.run(step)
        try:
            while True:
                # the limit stands around each part, not around a yield, for whoever reads may be slow
                async with asyncio.timeout_at(end):
                    batch = await anext(batches, None)
                if batch is None:
                    return
                yield batch
        except TimeoutError as exc:
            raise WorkflowStopped(
                f"Node {step.definition.title!r} of workflow {step.run.workflow.name} took more than {limit_s:g} s. "
                "Give it more with timeoutSeconds, or all nodes with workflows.node_timeout_s."
            ) from exc
        finally:
            await batches.aclose()

    def _new_step(self, run: Run, index: int, compiled: CompiledWorkflow) -> Step:
        definition = compiled.nodes[index].definition
        is_responder = index == compiled.responder
        answers_client = is_responder and not run.is_silent
        return Step(
            definition=definition,
            run=run,
            engine=self,
            trace=NodeTrace(
                number=definition.number,
                title=definition.title,
                type=definition.type,
                started_ms=run.turn.elapsed_ms(),
            ),
            is_responder=is_responder,
            answers_client=answers_client,
            streams=answers_client and run.turn.chat.stream,
            overrides=run.overrides if index == compiled.overridden else NO_OVERRIDES,
            services=self._services,
        )

    def _check(self, run: Run, node: CompiledNode) -> None:
        """Raises WorkflowStopped beyond the limit of nodes, WorkflowEnded where the server stops."""
        if self._is_stopping and isinstance(node.properties, ModelProperties):
            raise WorkflowEnded("the server is stopping")
        run.turn.nodes_run += 1
        most = self._services.limits.most_nodes
        if run.turn.nodes_run > most:
            raise WorkflowStopped(
                f"The request ran {most} nodes and would go on with {node.definition.title!r} of workflow "
                f"{run.workflow.name}. End the circle of workflows, or raise workflows.most_nodes."
            )


def _told(exc: BaseException) -> str:
    """What a trace says of a failure: our own words, and of a fault only its kind."""
    if isinstance(exc, MnemoirError):
        return exc.message
    return str(exc) if isinstance(exc, WorkflowEnded) else type(exc).__name__
