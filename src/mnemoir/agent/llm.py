"""The interface between an agent and a language model, the choice of the model for a run, and its token budget.

Only `complete` is required, so a model can be ten lines of a script. A model that can also stream its answer is a
StreamingLLM.
"""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Protocol, cast, runtime_checkable

from mnemoir.conversations.log.message_rows import read_call, to_model
from mnemoir.conversations.windows.counters import TokenCounter
from mnemoir.core import messages as core
from mnemoir.core.conversations import Message, ToolCall
from mnemoir.core.errors import SettingsError
from mnemoir.core.events import Gathering, Reply, Text, Usage
from mnemoir.ports.llm import ChatModel

ToolSpec = Mapping[str, Any]  # a tool in the JSON of OpenAI's chat protocol


@dataclass(frozen=True, slots=True)
class CompletionResponse:
    """A model's answer: a text, tool calls, or both. `usage` is None when its server does not count tokens."""

    content: str | None
    tool_calls: list[ToolCall] | None = None
    finish_reason: str = "stop"
    usage: Usage | None = None


class LLM(Protocol):
    """A language model that can call tools."""

    async def complete(self, *, messages: list[Message], tools: list[ToolSpec] | None) -> CompletionResponse:
        """The whole answer to `messages`; a text when `tools` is None. An exception ends the run."""


@runtime_checkable
class StreamingLLM(LLM, Protocol):
    """A model that can stream its answer."""

    def stream(
        self, *, messages: list[Message], tools: list[ToolSpec] | None
    ) -> AsyncGenerator[Text | CompletionResponse, None]:
        """Pieces of the text, then the whole answer, once. Closing the generator ends the call."""


class ModelChooser(Protocol):
    """A rule that picks one of several models for a run."""

    def choose(self, messages: Sequence[Message]) -> LLM | None:
        """The model that shall answer `messages`; None for the agent's own. Must not block."""


class ClusterNode(Protocol):
    """A machine of a cluster."""

    @property
    def name(self) -> str: ...


class ClusterManager(Protocol):
    """A cluster with a model per node, and a rule that picks a node for a question. Neither method may block."""

    def select_node_smart(self, query: str, context: list[Message]) -> tuple[ClusterNode | None, object]:
        """The node for a question with its conversation, or None if there is none, and the reasons."""

    def get_client(self, node_name: str, /) -> LLM | None:
        """The model of that node; None when the node cannot be reached."""


class Allowance:
    """Counter of a run's tokens. `most` is the limit, None for no limit; `usage` is the sum so far."""

    def __init__(self, most: int | None, counter: TokenCounter) -> None:
        self._most = most
        self._counter = counter
        self.usage = Usage()

    def affords_tools(self, messages: Sequence[Message]) -> bool:
        """True while the budget covers this prompt with tools and a final call with a prompt of the same length."""
        spent = self.usage.input_tokens + self.usage.output_tokens
        return self._most is None or spent + 2 * self._counter.count(messages) <= self._most

    def spend(self, messages: Sequence[Message], response: CompletionResponse) -> None:
        """Add a call's tokens: as counted by its server, else an estimate."""
        usage = getattr(response, "usage", None)  # a foreign response class may lack it
        self.usage += usage if isinstance(usage, Usage) else self._estimate(messages, response)

    def _estimate(self, messages: Sequence[Message], response: CompletionResponse) -> Usage:
        answer = Message("assistant", response.content, tool_calls=response.tool_calls)
        return Usage(input_tokens=self._counter.count(messages), output_tokens=self._counter.count_one(answer))


Choose = Callable[[str, Sequence[Message]], LLM | None]


def choice_of(manager: ClusterManager | ModelChooser | None) -> Choose:
    """A function from the question and all messages of the run to a model; None means the agent's own model.

    It calls `select_node_smart` if the manager has it, else `choose`. Raises SettingsError for a manager that has
    neither.
    """
    if manager is None:
        return lambda question, messages: None
    if callable(getattr(manager, "select_node_smart", None)):
        cluster = cast(ClusterManager, manager)
        return lambda question, messages: _of_cluster(cluster, question, messages)
    if callable(getattr(manager, "choose", None)):
        chooser = cast(ModelChooser, manager)
        return lambda question, messages: chooser.choose(messages)
    raise SettingsError(
        f"The cluster_manager {type(manager).__name__} cannot pick a model; give one with "
        "select_node_smart(query, context) and get_client(name), or with choose(messages)."
    )


def _of_cluster(cluster: ClusterManager, question: str, messages: Sequence[Message]) -> LLM | None:
    node, _ = cluster.select_node_smart(query=question, context=list(messages))
    return None if node is None else cluster.get_client(node.name)


class ChatModelLLM:
    """An LLM over a ChatModel. Raises ProviderError. Of files only images are sent: the port takes no others."""

    def __init__(self, model: ChatModel, sampling: core.Sampling | None = None) -> None:
        self._model = model
        self._sampling = sampling or core.Sampling()

    async def complete(self, *, messages: list[Message], tools: list[ToolSpec] | None) -> CompletionResponse:
        """The whole answer, in one upstream call."""
        return _response(await self._model.ask(self._request(messages, tools)))

    async def stream(
        self, *, messages: list[Message], tools: list[ToolSpec] | None
    ) -> AsyncGenerator[Text | CompletionResponse, None]:
        """Pieces of the text as they arrive, then the whole answer."""
        gathering = Gathering()
        async with aclosing(self._model.stream(self._request(messages, tools))) as batches:
            async for batch in batches:
                gathering.take(batch)
                for event in batch:
                    if isinstance(event, Text):
                        yield event
        yield _response(gathering.reply())

    def _request(self, messages: Sequence[Message], tools: Sequence[ToolSpec] | None) -> core.ModelRequest:
        return core.ModelRequest(messages=to_model(messages), sampling=self._sampling, tools=tools or ())


def _response(reply: Reply) -> CompletionResponse:
    calls = [read_call(call) for call in reply.tool_calls]
    return CompletionResponse(reply.text or None, calls or None, reply.reason, reply.usage)


_: type[StreamingLLM] = ChatModelLLM  # checked, never run
