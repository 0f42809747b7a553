"""The engine: runs a workflow's nodes in order and streams their events to the client.

Nodes before the responder prepare its answer. The responder's events go to the client as they come. Nodes behind the
responder run when the client has its answer, on a task of their own, so that a client closing the finished stream
does not cancel them. A node marked `beforeClose` runs between the last token and the end of the answer; it must be
quick, and is for storing data that must not be lost.
"""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing

import structlog

from mnemoir.core.errors import MnemoirError, StorageUnavailable, WorkflowStopped
from mnemoir.core.events import Finished, MemoriesRecalled, MemorySkipped, NodeFinished, NodeStarted, Reply, Text
from mnemoir.core.messages import ChatRequest, ModelRequest
from mnemoir.core.runs import MOST_TRACED_CHARACTERS, NodeTrace, WorkflowTrace
from mnemoir.wire.forwarding import takes_raw
from mnemoir.workflows.abilities import Abilities, abilities_of
from mnemoir.workflows.compiled import CompiledNode, CompiledWorkflow, Compiler
from mnemoir.workflows.config.tree import UserTree
from mnemoir.workflows.config.workflow import WorkflowDefinition
from mnemoir.workflows.loading import load
from mnemoir.workflows.node import ModelProperties, ValueNode
from mnemoir.workflows.run import NO_OVERRIDES, Overrides, Rest, Run, Turn
from mnemoir.workflows.services import Services
from mnemoir.workflows.step import UNSET, Step, WorkflowEnded
from mnemoir.workflows.time_limit import TimeLimit
from mnemoir.workflows.timing import Times
from mnemoir.workflows.tracing import output_text

_log = structlog.get_logger(__name__)


class Engine:
    """Runs workflows for many requests at a time. It holds no state of a request."""

    def __init__(self, compiler: Compiler, services: Services) -> None:
        self._compiler = compiler
        self._services = services
        self._times = Times(services)
        self._is_stopping = False

    @property
    def is_stopping(self) -> bool:
        """See `SubWorkflows`."""
        return self._is_stopping

    def takes_raw(self, request: ModelRequest) -> bool:
        """True when a raw request can be sent to the server's own model unchanged."""
        return takes_raw(request, self._services.own_model().provider, self._services.forwarding)

    def gives_choices(self, request: ModelRequest) -> bool:
        """True when the server's own model can give several answers to a request."""
        return request.raw or self._services.own_model().provider == "openai-chat"

    async def load(self, chat: ChatRequest) -> tuple[Reply, Sequence[str]]:
        """See `workflows.loading`, for the server's own model."""
        return await load(chat, self._services.own_model(), self._services.forwarding)

    def abilities(self, user: UserTree, workflow: WorkflowDefinition) -> Abilities:
        """See `workflows.abilities`."""
        return abilities_of(user, workflow, self._compiler)

    def stop(self) -> None:
        """Ask no further models behind answers from now on; running calls may finish."""
        self._is_stopping = True

    async def place(self, turn: Turn) -> None:
        """Set the turn's discussion with the paths of its files. Raises StorageUnavailable."""
        if turn.discussion_id is not None:
            turn.discussion = await self._services.discussion_places.of(
                turn.user, turn.discussion_id, turn.caller.scope, turn.caller.client_keys
            )

    async def answer(self, turn: Turn, workflow: WorkflowDefinition) -> None:
        """Answer the client by a workflow, except for the Finished, which is stored in `turn.finished`.

        Nodes behind the answer are stored in `turn.rest`; nodes marked `beforeClose` have run on return. A workflow
        without nodes, or one that ended without an answer, gives an empty answer. Raises MnemoirError.
        """
        run = self._new_run(turn, workflow)
        turn.trace.workflows.append(run.trace)
        try:
            await self._run_to_responder(run)
        except WorkflowEnded as ended:
            _ended_early(workflow, ended)
        turn.is_answered = True
        if turn.finished is None:
            _log.warning("workflow gave no answer", workflow=workflow.name)
            turn.finished = Finished()
        await self._close(turn)

    async def decide(self, turn: Turn, workflow: WorkflowDefinition, categories: dict[str, object]) -> object:
        """The output of a workflow whose answer is used by the server, such as a categoriser; None without one."""
        run = self._new_run(turn, workflow, is_silent=True)
        run.categories = categories
        turn.trace.workflows.append(run.trace)
        try:
            return await self._output(run)
        except WorkflowEnded as ended:
            _ended_early(workflow, ended)
            return None

    def has_rest(self, turn: Turn) -> bool:
        """True when nodes or locks are left for after the answer."""
        return any(rest.nodes or rest.run.lock_database is not None for rest in turn.rest)

    async def run_rest(self, turn: Turn) -> None:
        """Run the nodes behind the responder, inner workflows first. Raises MnemoirError when one fails."""
        try:
            for rest in turn.rest:
                for index in rest.nodes:
                    await self._behind(rest.run, index)
                await self._release(rest.run)
        except WorkflowEnded as ended:
            _ended_early(rest.run.workflow, ended)
        finally:
            await self.let_go(turn)

    async def let_go(self, turn: Turn) -> None:
        """Release the locks of all workflows of the turn."""
        for rest in turn.rest:
            await self._release(rest.run)

    async def run_child(
        self,
        step: Step,
        name: str,
        *,
        folder: str = "",
        inputs: Sequence[object] = (),
        overrides: Overrides = NO_OVERRIDES,
        silent: bool = True,
    ) -> object:
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
            return await self._output(child)
        await self._run_to_responder(child)
        return child.outputs.get(self._compiler.compiled_workflow(child.workflow).responder + 1)

    def _new_run(self, turn: Turn, workflow: WorkflowDefinition, *, is_silent: bool = False) -> Run:
        trace = WorkflowTrace(name=workflow.name, folder=workflow.folder)
        turn.runs_begun += 1
        return Run(
            id=f"{turn.trace.id}.{turn.runs_begun}", turn=turn, workflow=workflow, trace=trace, is_silent=is_silent
        )

    async def _output(self, run: Run) -> object:
        """Run a silent workflow to its end; the output of its responder."""
        compiled = self._compiler.compiled_workflow(run.workflow)
        try:
            if compiled.uses_times:
                await self._times.begin(run, compiled)
            for index in range(len(compiled.nodes)):
                await self._step(run, index, compiled)
        finally:
            await self._release(run)
        return run.outputs.get(compiled.responder + 1)

    async def _run_to_responder(self, run: Run) -> None:
        """Run the nodes up to the responder. The client gets the responder's events, and notices of earlier nodes."""
        compiled = self._compiler.compiled_workflow(run.workflow)
        try:
            if compiled.uses_times:
                await self._times.begin(run, compiled)
            for index in range(compiled.responder + 1):
                await self._step(run, index, compiled, is_heard=True)
        except BaseException:
            await self._release(run)
            raise
        run.turn.rest.append(Rest(run=run, nodes=[*range(compiled.responder + 1, len(compiled.nodes))]))

    async def _close(self, turn: Turn) -> None:
        """Run the nodes marked `beforeClose`. A failure is noted in the trace and does not end the answer."""
        for rest in turn.rest:
            nodes = self._compiler.compiled_workflow(rest.run.workflow).nodes
            for index in [index for index in rest.nodes if nodes[index].properties.before_close]:
                rest.nodes.remove(index)
                try:
                    await self._behind(rest.run, index)
                except WorkflowEnded as ended:
                    _ended_early(rest.run.workflow, ended)
                except MnemoirError as exc:
                    _log.warning("node failed", node=nodes[index].definition.title, code=exc.code)
                    _log.debug("node failed", node=nodes[index].definition.title, error=exc.message)

    async def _behind(self, run: Run, index: int) -> None:
        """Run a node behind the responder. Its events are not sent; its output and its trace are kept."""
        await self._step(run, index, self._compiler.compiled_workflow(run.workflow))

    async def _release(self, run: Run) -> None:
        if run.lock_database is None:
            return
        run.lock_database = None
        try:
            await self._services.locks.release(run=run.id)
        except StorageUnavailable as exc:  # the lease is no longer renewed, so it expires by itself
            _log.warning("workflow lock not released", workflow=run.workflow.name, error=exc.message)

    async def _step(self, run: Run, index: int, compiled: CompiledWorkflow, *, is_heard: bool = False) -> None:
        """Run one node. With `is_heard` the client gets its answer, or its NodeStarted, notices and NodeFinished."""
        node, turn = compiled.nodes[index], run.turn
        if not node.always_applies and not node.node.applies(turn):
            return
        step = self._new_step(run, index, compiled)
        self._check(run, node)
        if isinstance(node.node, ValueNode):
            await asyncio.sleep(0)  # nodes that never wait must not block other requests
        run.trace.nodes.append(step.trace)
        turn.on_node(turn.trace, step.trace)
        title, kind = node.definition.title, node.definition.type
        tells = is_heard and not step.answers_client
        if tells:
            await turn.say([NodeStarted(node=title, type=kind)])
        try:
            if node.stamps:
                await self._times.before(step)
            await self._run_node(step, node, tells=tells)
            if node.stamps:
                await self._times.after(step)
        except (Exception, asyncio.CancelledError) as exc:
            step.trace.error = _failure_text(exc)
            raise
        finally:
            step.trace.duration_ms = turn.elapsed_ms() - step.trace.started_ms
            turn.on_node(turn.trace, step.trace)
            if turn.user is not None:
                turn.user.look_again()
        if tells:
            await turn.say([NodeFinished(node=title, type=kind, duration_ms=step.trace.duration_ms or 0.0)])

    async def _run_node(self, step: Step, node: CompiledNode, *, tells: bool) -> None:
        """Run the node within its time limit and store its output; as an answer, send it with a Finished."""
        turn = step.run.turn
        # the turn stores the client's answer up to a length: an answer may be endless
        texts: list[str] = turn.answer if step.answers_client else []
        if step.answers_client:
            turn.answering.append(step.trace)
        async with self._limit(step, node), aclosing(node.node.run(step)) as batches:
            async for batch in batches:
                if step.answers_client:
                    await turn.say(batch)
                    continue
                texts += self._texts_of(step, [event.text for event in batch if isinstance(event, Text)])
                notices = [event for event in batch if isinstance(event, MemoriesRecalled | MemorySkipped)]
                if tells and notices:
                    await turn.say(notices)
        if step.output is UNSET:
            step.output = "".join(texts)
            if step.answers_client and turn.is_overlong:
                step.note("The answer is too long: nodes behind it get only its beginning.")
        step.run.outputs[step.definition.number] = step.output
        step.trace.output = output_text(step.output)[:MOST_TRACED_CHARACTERS]
        if step.answers_client and turn.finished is None:
            text = "" if texts else output_text(step.output)
            await turn.say([*([Text(text)] if text else []), Finished()])

    def _texts_of(self, step: Step, texts: list[str]) -> list[str]:
        """The texts; sets the time of the first token in the trace."""
        if texts and step.trace.first_token_ms is None:
            step.trace.first_token_ms = step.run.turn.elapsed_ms()
            step.run.turn.on_node(step.run.turn.trace, step.trace)
        return texts

    def _limit(self, step: Step, node: CompiledNode) -> TimeLimit:
        default_s = self._services.limits.node_timeout_s if node.node.is_timed else None
        limit_s = node.properties.timeout_s or default_s
        return TimeLimit(step.run.turn, limit_s, lambda: _too_long(step, limit_s or 0.0))

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
                is_responder=answers_client,
            ),
            is_responder=is_responder,
            answers_client=answers_client,
            streams=answers_client and run.turn.chat.stream,
            overrides=run.overrides if index == compiled.overridden else NO_OVERRIDES,
            services=self._services,
        )

    def _check(self, run: Run, node: CompiledNode) -> None:
        """Raise WorkflowStopped at the limit of nodes, WorkflowEnded when the server stops."""
        if self._is_stopping and isinstance(node.properties, ModelProperties):
            raise WorkflowEnded("the server is stopping")
        run.turn.nodes_run += 1
        most = self._services.limits.most_nodes
        if run.turn.nodes_run > most:
            raise WorkflowStopped(
                f"The request ran {most} nodes and would go on with {node.definition.title!r} of workflow "
                f"{run.workflow.name}. End the circle of workflows, or raise workflows.most_nodes."
            )


def _ended_early(workflow: WorkflowDefinition, ended: WorkflowEnded) -> None:
    _log.info("workflow ended early", workflow=workflow.name)
    _log.debug("workflow ended early", reason=str(ended))  # debug only: the name of a lock may quote a message


def _too_long(step: Step, limit_s: float) -> WorkflowStopped:
    return WorkflowStopped(
        f"Node {step.definition.title!r} of workflow {step.run.workflow.name} took more than {limit_s:g} s. "
        "Give it more with timeoutSeconds, or all nodes with workflows.node_timeout_s."
    )


def _failure_text(exc: BaseException) -> str:
    """The text of a failure in a trace: the message of a MnemoirError, and only the type of any other exception."""
    if isinstance(exc, MnemoirError):
        return exc.message
    if isinstance(exc, asyncio.CancelledError):
        return "It was stopped: the client disconnected or cancelled, or the server is stopping."
    return str(exc) if isinstance(exc, WorkflowEnded) else type(exc).__name__
