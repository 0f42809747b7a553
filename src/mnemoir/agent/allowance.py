"""How many tokens a run may spend, and has spent."""

from collections.abc import Sequence

from mnemoir.agent.llm import CompletionResponse
from mnemoir.conversations.windows.counters import TokenCounter
from mnemoir.core.conversation_messages import Message
from mnemoir.core.events import Usage


class Allowance:
    """Counts the tokens of a run; `most` is the limit, None for none. `usage` is what was spent."""

    def __init__(self, most: int | None, counter: TokenCounter) -> None:
        self._most = most
        self._counter = counter
        self.usage = Usage()

    def affords_tools(self, messages: Sequence[Message]) -> bool:
        """Whether, after a step with tools, a final answer to as long a prompt can still be paid."""
        spent = self.usage.input_tokens + self.usage.output_tokens
        return self._most is None or spent + 2 * self._counter.count(messages) <= self._most

    def spend(self, messages: Sequence[Message], response: CompletionResponse) -> None:
        """Note a call: what its server counted, else an estimate."""
        usage = getattr(response, "usage", None)  # a response of another make may not have it
        self.usage += usage if isinstance(usage, Usage) else self._estimate(messages, response)

    def _estimate(self, messages: Sequence[Message], response: CompletionResponse) -> Usage:
        answer = Message("assistant", response.content, tool_calls=response.tool_calls)
        return Usage(input_tokens=self._counter.count(messages), output_tokens=self._counter.count_one(answer))
