"""The interface between an agent and a language model.

Only `complete` is required, so a model can be ten lines of a script. A model that can also stream its answer is a
StreamingLLM.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from mnemoir.core.conversations import Message, ToolCall
from mnemoir.core.events import Text, Usage

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
