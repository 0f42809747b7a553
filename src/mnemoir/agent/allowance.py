"""The token budget of a run: its limit and the tokens used so far."""

from collections.abc import Sequence

from mnemoir.agent.llm import CompletionResponse
from mnemoir.conversations.windows.counters import TokenCounter
from mnemoir.core.conversations import Message
from mnemoir.core.events import Usage


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
