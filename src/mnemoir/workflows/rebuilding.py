"""Rebuilding the memories of a discussion, from the messages stored with them or from a given conversation.

New memories are made beside the old ones, as those of another discussion, and replace them when all are made. An
interrupted rebuild continues where it ended when it is started again.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from mnemoir.core.discussions import Discussion
from mnemoir.core.errors import Conflict, InvalidRequest, MnemoirError, SettingsError
from mnemoir.core.messages import ChatRequest, Message, ModelRequest
from mnemoir.core.runs import NodeTrace, RunTrace, WorkflowTrace
from mnemoir.memory.discussions.parts import ChunkPolicy, Control, Made, Plan
from mnemoir.memory.discussions.writing import aside, to_its_end
from mnemoir.ports.discussions import ChunkLedger, RecordStore
from mnemoir.ports.run_store import RunWatcher
from mnemoir.workflows.config.memory import DiscussionSettings
from mnemoir.workflows.config.tree import UserTree
from mnemoir.workflows.config.workflow import NodeDefinition, WorkflowDefinition
from mnemoir.workflows.discussion_memory import MemoryMaker, note_made
from mnemoir.workflows.kept_words import KeptWords, keep_places, words_from_messages, words_from_store
from mnemoir.workflows.run import Caller, Run, Turn
from mnemoir.workflows.services import Services
from mnemoir.workflows.step import Step, SubWorkflows

_NODE = NodeDefinition(number=1, title="Rebuild", type="QualityMemory", raw={})
_WORKFLOW = WorkflowDefinition(name="rebuild", nodes=(_NODE,))


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuildProgress:
    """The progress of a rebuild, in chunks; the last value is `finished`, and its `notes` describe failures."""

    done: int
    all: int
    finished: bool = False
    notes: Sequence[str] = ()


class Rebuilding:
    """Rebuilds the memories of discussions of a config tree's users."""

    def __init__(self, engine: SubWorkflows, services: Services, runs: RunWatcher) -> None:
        self._engine = engine
        self._services = services
        self._runs = runs

    async def plan(
        self, caller: Caller, user: UserTree, discussion: Discussion, messages: Sequence[Message] | None
    ) -> Plan:
        """The work of a rebuild: chunks, messages and tokens for models. Raises as `rebuild` does."""
        rebuild = await self._prepare_rebuild(caller, user, discussion, messages)
        return await rebuild.maker.plan(rebuild.policy)

    async def rebuild(
        self, caller: Caller, user: UserTree, discussion: Discussion, messages: Sequence[Message] | None
    ) -> AsyncGenerator[RebuildProgress, None]:
        """Rebuild and yield progress after each chunk. Without `messages` those stored with the memories are used.

        Raises InvalidRequest if they are not stored, for a user without settings of discussions, or if no chunk can
        be made of the messages; Conflict while memories of the discussion are being made; StorageUnavailable. A
        failure leaves the old memories as they were.
        """
        async with self._services.discussions.files.making(discussion) as is_ours:
            if not is_ours:
                raise Conflict(
                    f"Memories of discussion {discussion.id[:128]!r} are being made. Try again later.",
                    code="discussion_busy",
                )
            # read under the lock: otherwise memories forgotten or deleted in between would be made again
            rebuild = await self._prepare_rebuild(caller, user, discussion, messages)
            async with aclosing(self._run_with_trace(rebuild)) as steps:
                async for progress in steps:
                    yield progress

    async def _run_with_trace(self, rebuild: "_Rebuild") -> AsyncGenerator[RebuildProgress, None]:
        """Run the rebuild with a trace; when its caller stops iterating, it is cancelled."""
        trace = rebuild.step.run.turn.trace
        self._runs.note_begin(trace)
        try:
            async with aclosing(_Making(rebuild)) as making:
                async for progress in making.run():
                    yield progress
                settled = await to_its_end(self._settle(rebuild, await making.outcome()))
            trace.status = "finished"
            yield settled
        except Exception as exc:
            trace.status = "failed"
            trace.error = exc.message if isinstance(exc, MnemoirError) else type(exc).__name__
            raise
        finally:
            if trace.status == "running":
                trace.status = "cancelled"
            trace.duration_ms = rebuild.step.trace.duration_ms = rebuild.step.run.turn.elapsed_ms()
            self._runs.note_end(trace)

    async def _settle(self, rebuild: "_Rebuild", made: Made) -> RebuildProgress:
        """Replace the old memories by the new ones, if all were made."""
        memory = self._services.discussions
        if made.is_busy:
            raise Conflict(f"Discussion {rebuild.discussion.id!r} is being rebuilt already.")
        note_made(rebuild.step, made)
        if not await rebuild.has_chunks():
            await memory.files.remove(rebuild.aside)
            if not made.left:
                raise InvalidRequest(
                    f"There is too little to make a memory of discussion {rebuild.discussion.id!r}. Nothing was "
                    "changed; give more of its messages.",
                    code="nothing_to_remember",
                )
        if not made.left:
            await rebuild.put_in_place()
            await memory.files.remove(rebuild.aside)
            if not rebuild.settings.uses_records:
                await memory.summaries.remove(rebuild.discussion)
        return RebuildProgress(done=made.chunks, all=made.chunks + made.left, finished=True, notes=made.notes)

    async def _prepare_rebuild(
        self, caller: Caller, user: UserTree, discussion: Discussion, messages: Sequence[Message] | None
    ) -> "_Rebuild":
        """What to rebuild. Raises InvalidRequest for a user without discussion settings that can be used, too."""
        try:
            return await self._assemble_rebuild(caller, user, discussion, messages, user.discussion_settings())
        except SettingsError as exc:
            raise InvalidRequest(
                f"The memories of discussion {discussion.id[:128]!r} cannot be made anew. {exc.message}",
                code=exc.code,
            ) from exc

    async def _assemble_rebuild(
        self,
        caller: Caller,
        user: UserTree,
        discussion: Discussion,
        messages: Sequence[Message] | None,
        settings: DiscussionSettings,
    ) -> "_Rebuild":
        memory = self._services.discussions
        store: ChunkLedger | RecordStore = memory.records if settings.uses_records else memory.ledger
        if messages is None:
            words = await words_from_store(store, discussion)
        else:
            words = await words_from_messages(store, discussion, messages)
        made = aside(discussion, "rebuild")
        step = self._step(caller, user, words.messages, discussion)
        maker = MemoryMaker(step, made, settings)
        return _Rebuild(
            discussion=discussion,
            aside=made,
            step=step,
            maker=maker,
            store=store,
            words=words,
            settings=settings,
            policy=_policy(maker, settings, words, is_settled=messages is None),
            services=self._services,
        )

    def _step(self, caller: Caller, user: UserTree, messages: Sequence[Message], discussion: Discussion) -> Step:
        request = ModelRequest(messages=tuple(messages))
        trace = RunTrace(id=caller.run_id, scope=caller.scope, user=user.name)
        turn = Turn(
            chat=ChatRequest(request=request, stream=False),
            caller=caller,
            messages=list(messages),
            trace=trace,
            user=user,
            discussion_id=discussion.id,
            discussion=discussion,
            on_node=self._runs.note_node,
        )
        workflow_trace = WorkflowTrace(name=_WORKFLOW.name)
        trace.workflows.append(workflow_trace)
        node_trace = NodeTrace(number=1, title=_NODE.title, type=_NODE.type, started_ms=0.0)
        workflow_trace.nodes.append(node_trace)
        return Step(
            definition=_NODE,
            run=Run(id=f"{trace.id}.1", turn=turn, workflow=_WORKFLOW, trace=workflow_trace, is_silent=True),
            engine=self._engine,
            services=self._services,
            trace=node_trace,
            is_responder=False,
            answers_client=False,
            streams=False,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rebuild:
    """One rebuild; `aside` is the temporary discussion in which the new memories are made."""

    discussion: Discussion
    aside: Discussion
    step: Step
    maker: MemoryMaker
    store: ChunkLedger | RecordStore
    words: KeptWords
    settings: DiscussionSettings
    policy: ChunkPolicy
    services: Services

    async def make(self, control: Control) -> Made:
        memory, of_records = self.services.discussions, self.settings.uses_records
        await keep_places(memory, self.aside, self.words.forgotten, of_records=of_records)
        make = self.maker.records if of_records else self.maker.summaries
        return await make(control, self.policy)

    async def has_chunks(self) -> bool:
        """True when new memories of any chunk exist, from this rebuild or from an interrupted one."""
        return not all(block.is_forgotten for block in await self.store.blocks(self.aside))

    async def put_in_place(self) -> None:
        await self.store.put_in_place(self.discussion, self.aside)


class _Making:
    """A rebuild on a task of its own, so that progress can be yielded while it runs."""

    def __init__(self, rebuild: _Rebuild) -> None:
        self._progress: asyncio.Queue[RebuildProgress | None] = asyncio.Queue()
        engine = rebuild.step.engine
        control = Control(goes_on=lambda: not engine.is_stopping, progress=self._report)
        self._task = asyncio.create_task(rebuild.make(control), name="rebuilding a discussion")
        self._task.add_done_callback(lambda _: self._progress.put_nowait(None))

    async def run(self) -> AsyncGenerator[RebuildProgress, None]:
        """Yield progress until the task has ended, also by failure."""
        while (progress := await self._progress.get()) is not None:
            yield progress

    async def outcome(self) -> Made:
        """The result of the task. Raises its exception."""
        return await self._task

    async def aclose(self) -> None:
        """Cancel the task, if it is still running."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    def _report(self, done: int, all_chunks: int) -> None:
        self._progress.put_nowait(RebuildProgress(done=done, all=all_chunks))


def _policy(maker: MemoryMaker, settings: DiscussionSettings, words: KeptWords, *, is_settled: bool) -> ChunkPolicy:
    """The settings' rule for chunks; with `is_settled` without lookback, so that the last messages are included."""
    policy = maker.policy(records=settings.uses_records)
    return replace(policy, takes_all=True, lookback=0 if is_settled else policy.lookback, digests=words.digests)
