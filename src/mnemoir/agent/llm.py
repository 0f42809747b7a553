"""What an agent asks of a language model, in its own small words.

`complete` is all that is needed, so a model can be ten lines of a script. A model that can also tell its answer piece
by piece is a StreamingLLM.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from mnemoir.core.conversation_messages import Message, ToolCall
from mnemoir.core.events import Text, Usage

ToolSpec = Mapping[str, Any]  # a tool as OpenAI's chat protocol spells it


@dataclass(frozen=True, slots=True)
class CompletionResponse:
    """A model's answer: a text, calls of tools, or both. `usage` is None where its server does not count."""

    content: str | None
    tool_calls: list[ToolCall] | None = None
    finish_reason: str = "stop"
    usage: Usage | None = None


class LLM(Protocol):
    """A language model that knows tools."""

    async def complete(self, *, messages: list[Message], tools: list[ToolSpec] | None) -> CompletionResponse:
        """The whole answer to `messages`; without tools (None) it is to be a text. What it raises ends the run."""


@runtime_checkable
class StreamingLLM(LLM, Protocol):
    """A model whose answer can be read as it is made."""

    def stream(
        self, *, messages: list[Message], tools: list[ToolSpec] | None
    ) -> AsyncGenerator[Text | CompletionResponse, None]:
        """Pieces of the text, then the whole answer once. Closing the generator ends the call."""


class ModelChooser(Protocol):
    """Picks the model for a run, where there are several."""

    def choose(self, messages: Sequence[Message]) -> LLM | None:
        """The model to answer `messages`, None for the agent's own. Must not block."""


class ClusterNode(Protocol):
    """A machine of a cluster."""

    @property
    def name(self) -> str: ...


class ClusterManager(Protocol):
    """Picks a node of a cluster for a question, and has a model for each node. Neither method may block."""

    def select_node_smart(self, query: str, context: list[Message]) -> tuple[ClusterNode | None, object]:
        """The node for a question after its conversation, and the reasons; None for the node when there is none."""

    def get_client(self, node_name: str, /) -> LLM | None:
        """The model of that node, None when it cannot be reached."""
