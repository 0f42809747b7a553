"""Workflows over real parts: a scripted model, files, locks; a memory and a run store with lists of their calls."""

import asyncio
import copy
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp

from mnemoir.core.errors import ProviderUnavailable
from mnemoir.core.events import Emit, Event, Text
from mnemoir.core.messages import ChatRequest, Message, ModelRequest, Role, text_message
from mnemoir.core.runs import NodeTrace, RunTrace, WorkflowTrace
from mnemoir.core.scope import Scope
from mnemoir.core.text import RecalledLine
from mnemoir.memory.discussions.parts import DiscussionMemory
from mnemoir.ports.memory_service import ChatTurn, RecallLimits, RecallResult, Remembered
from mnemoir.providers.llm.endpoint import Endpoint, Timeouts
from mnemoir.providers.llm.model_servers import HttpModelServers
from mnemoir.providers.llm.openai_chat import OpenAIChat
from mnemoir.providers.offline_wikipedia import HttpOfflineWikipedia
from mnemoir.providers.python_modules.runner import NoModules
from mnemoir.storage.discussions.timestamps import FileTimestamps
from mnemoir.storage.files.user_files import FileUserFiles
from mnemoir.workflows.compiled import Compiler
from mnemoir.workflows.config.tree import ConfigTree
from mnemoir.workflows.config.workflow import WorkflowDefinition, default_workflow
from mnemoir.workflows.discussion_files import DiscussionPlaces
from mnemoir.workflows.dispatch import Workflows
from mnemoir.workflows.engine import Engine
from mnemoir.workflows.locks import WorkflowLocks
from mnemoir.workflows.node import node_types
from mnemoir.workflows.run import Caller
from mnemoir.workflows.services import ChatMemory, Limits, Services
from mnemoir.workflows.step import Step
from tests.discussion_stores import discussion_stores
from tests.scripted_llm import ScriptedLLM
from tests.tree_kit import user, write_tree

SCOPE = Scope(project="kitchen", user="alex")
VEGETARIAN = RecalledLine(text="Is vegetarian", day="2026-03-04")


@dataclass
class ListedMemory:
    """A memory service over two lists: an implementation of the port without a network."""

    lines: list[RecalledLine] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    kept: list[ChatTurn] = field(default_factory=list)
    unread: list[ChatTurn] = field(default_factory=list)
    limits: RecallLimits | None = field(default_factory=lambda: RecallLimits(count=5, tokens=800, fact_tokens=400))
    before: Sequence[str] = ()
    down: bool = False

    async def search(
        self, scope: Scope, query: str, *, limits: RecallLimits, credential: str | None, before: Sequence[str] = ()
    ) -> RecallResult:
        self.asked.append(query)
        self.before = before
        if self.down:
            raise ProviderUnavailable("The memory service could not be reached.")
        return RecallResult(lines=self.lines[: limits.count])

    async def remember(self, scope: Scope, turn: ChatTurn, *, key: str) -> Remembered:
        self.kept.append(turn)
        return Remembered()

    async def allowance(self, scope: Scope) -> RecallLimits | None:
        return self.limits

    async def waiting(self, scope: Scope) -> list[ChatTurn]:
        return self.unread

    async def foreseen(self, scope: Scope, text: str, zone: str | None) -> list[str]:
        return []

    async def keep(self, caller: Caller, turn: ChatTurn) -> str:
        self.kept.append(turn)
        return f"job_{len(self.kept)}"


class Engineless:
    """An engine that runs no sub-workflow; the server is not stopping."""

    is_stopping = False

    async def run_child(self, step: Step, name: str, **how: Any) -> object:
        raise AssertionError("no node of these tests runs a sub-workflow")


class ListedRuns:
    """The part of a run store that workflows use: the traces, and a copy of each at its end."""

    def __init__(self) -> None:
        self.begun_runs: list[RunTrace] = []
        self.moves: list[tuple[str, bool, bool]] = []  # of nodes: which, whether it has spoken, whether it is over
        self._ended: asyncio.Queue[RunTrace] = asyncio.Queue()
        self._as_they_ended: list[RunTrace] = []

    def note_begin(self, run: RunTrace) -> None:
        self.begun_runs.append(run)

    def note_node(self, run: RunTrace, node: NodeTrace) -> None:
        self.moves.append((node.title, node.first_token_ms is not None, node.duration_ms is not None))

    def note_end(self, run: RunTrace) -> None:
        self._as_they_ended.append(copy.deepcopy(run))
        self._ended.put_nowait(run)

    async def forget(self, scope: Scope) -> None:
        """Nothing: tests read every run."""

    async def next(self) -> RunTrace:
        """The trace of the next run that has ended, with the nodes behind its answer."""
        async with asyncio.timeout(30):
            return await self._ended.get()

    def check(self) -> None:
        """Assert that every run ended once, and that its trace did not change after that."""
        ids = [run.id for run in self._as_they_ended]
        assert sorted(ids) == sorted(run.id for run in self.begun_runs)
        ended = {run.id: run for run in self.begun_runs}
        assert [ended[run.id] for run in self._as_they_ended] == self._as_they_ended


@dataclass(kw_only=True)
class Desk:
    """Creates workflows that share the same parts; `public` is the folder of their config tree."""

    public: Path
    session: aiohttp.ClientSession
    llm: ScriptedLLM
    memory: ListedMemory
    locks: WorkflowLocks
    runs: ListedRuns
    made: list[Workflows] = field(default_factory=list)
    discussions: DiscussionMemory = field(default_factory=discussion_stores)

    def workflows(self, workflow: WorkflowDefinition | None = None) -> Workflows:
        """Without a config tree: the built-in workflow, unless another is given."""
        return self._made(Workflows(self._engine(Limits()), self.runs, workflow or default_workflow()))

    def tree(
        self,
        *nodes: Mapping[str, Any],
        files: Mapping[str, object] | None = None,
        settings: Mapping[str, object] | None = None,
        limits: Limits | None = None,
        users: Sequence[str] = ("Ann",),
        grace_s: float = 5.0,
    ) -> Workflows:
        """Ann's, whose workflow `Chat` has these nodes; `settings` are members of her file, `files` further files."""
        own = {"Users/ann.json": user(**(settings or {})), "Workflows/Ann/Chat.json": nodes}
        write_tree(self.public, self.llm.url, {**own, **(files or {})})
        tree = ConfigTree.open(self.public)
        engine = self._engine(limits or Limits())
        return self._made(Workflows(engine, self.runs, default_workflow(), tree, users, grace_s=grace_s))

    @property
    def services(self) -> Services:
        memory = self.memory
        own = OpenAIChat(Endpoint(base_url=self.llm.openai_url, model="scripted", tries=1), self.session)
        return Services(
            own_model=lambda: own,
            discussions=self.discussions,
            discussion_places=DiscussionPlaces(self.discussions.files, self.public / "data", nobody=SCOPE),
            memory=ChatMemory(
                service=memory,
                allowance=memory.allowance,
                waiting=memory.waiting,
                keep=memory.keep,
                foreseen=memory.foreseen,
            ),
            model_servers=HttpModelServers(self.session, timeouts=Timeouts(), tries=1, most_bytes=1024 * 1024),
            modules=NoModules(),
            files=FileUserFiles([self.public], self.public),
            wikipedia=HttpOfflineWikipedia(self.session),
            locks=self.locks,
            timestamps=FileTimestamps(),
            data_dir=self.public / "data",
        )

    def _engine(self, limits: Limits) -> Engine:
        services = replace(self.services, limits=limits)
        return Engine(Compiler(node_types(), services), services)

    def _made(self, workflows: Workflows) -> Workflows:
        self.made.append(workflows)
        return workflows


def chat(*messages: Message, stream: bool = True, **members: Any) -> ChatRequest:
    said = messages or (text_message("user", "What shall I cook?"),)
    request = ModelRequest(messages=list(said), model=members.pop("model", "mnemoir"), **members)
    return ChatRequest(request=request, stream=stream)


def talk(*texts: str, stream: bool = True) -> ChatRequest:
    """User and assistant in turn, the user first."""
    roles: tuple[Role, ...] = ("user", "assistant")
    return chat(*[text_message(roles[i % 2], text) for i, text in enumerate(texts)], stream=stream)


def caller(*, memory: bool = True, client_task: str | None = None) -> Caller:
    return Caller(scope=SCOPE, request_id="r1", memory=memory, client_task=client_task)


async def events(workflows: Workflows, request: ChatRequest | None = None, who: Caller | None = None) -> list[Event]:
    """All events of the answer to a request."""
    return await events_of(partial(workflows.answer, request or chat(), who or caller()))


async def events_of(answer: Callable[[Emit], Awaitable[None]]) -> list[Event]:
    """All events of an answer."""
    happened: list[Event] = []

    async def take(batch: Sequence[Event]) -> None:
        happened.extend(batch)

    await answer(take)
    return happened


async def leave_when(answer: Callable[[Emit], Awaitable[None]], seen: type[Event]) -> None:
    """Read an answer until an event of that type comes, then disconnect."""
    await read_until(answer, lambda batch: any(isinstance(event, seen) for event in batch))


async def read_until(answer: Callable[[Emit], Awaitable[None]], enough: Callable[[Sequence[Event]], bool]) -> None:
    """Read an answer to its end, or until `enough` is True for a batch; then the answering task is cancelled."""

    async def take(batch: Sequence[Event]) -> None:
        task = asyncio.current_task()
        if task is not None and enough(batch):
            task.cancel()
            await asyncio.sleep(0)

    answering = asyncio.ensure_future(answer(take))
    with suppress(asyncio.CancelledError):
        await answering


def text_of(happened: Sequence[Event]) -> str:
    return "".join(event.text for event in happened if isinstance(event, Text))


async def reply(workflows: Workflows, request: ChatRequest | None = None) -> str:
    """The text of an answer."""
    return text_of(await events(workflows, request))


async def asked(llm: ScriptedLLM, times: int) -> None:
    """Wait until the model has received that many requests."""
    async with asyncio.timeout(30):
        while len(llm.requests) < times:
            llm.arrived.clear()
            await llm.arrived.wait()


def nodes_of(run: RunTrace | WorkflowTrace) -> list[NodeTrace]:
    """The top-level nodes of a run or a workflow, in order."""
    if isinstance(run, WorkflowTrace):
        return run.nodes
    return [node for workflow in run.workflows for node in workflow.nodes]


def shape(workflow: WorkflowTrace) -> list[object]:
    """The titles of the nodes that ran; one that ran workflows is a pair of its title and those."""
    return [
        (node.title, [shape(child) for child in node.children]) if node.children else node.title
        for node in workflow.nodes
    ]
