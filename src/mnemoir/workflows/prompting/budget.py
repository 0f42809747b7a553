"""Cutting a conversation to a model's context: whole messages are dropped, the oldest first.

System messages and the last user message always stay.
"""

from collections.abc import Callable, Sequence

from mnemoir.conversations.windows import fitting
from mnemoir.conversations.windows.counters import AdditiveCounter
from mnemoir.core.messages import Message
from mnemoir.core.text import estimate_prompt_tokens
from mnemoir.workflows.prompting.history import SYSTEM_ROLES

Estimate = Callable[[str], int]

TOKENS_AROUND_MESSAGE = 8
_MOST_CHARACTERS_PER_TOKEN = 16  # a text with more per token of the budget is too long, without estimating it
_SYSTEM_ROLES = SYSTEM_ROLES | {"systemMes"}


def fit(
    messages: Sequence[Message], budget_tokens: int, *, estimate: Estimate = estimate_prompt_tokens
) -> tuple[list[Message], int]:
    """The messages that fit, in their order, and the number dropped.

    Counts from the newest and stops at the first that does not fit, so older messages cost no time. The messages that
    always stay may exceed the budget alone. A tool result is dropped with its call. Pictures do not count.
    """
    if sum(TOKENS_AROUND_MESSAGE + _characters(message) for message in messages) <= budget_tokens:
        return list(messages), 0  # no estimate exceeds one token per character
    most_characters = _MOST_CHARACTERS_PER_TOKEN * max(budget_tokens, 0)

    def cost(message: Message) -> int:
        if _characters(message) > most_characters:
            return max(budget_tokens, 0) + 1
        return TOKENS_AROUND_MESSAGE + sum(map(estimate, _texts(message)))

    pinned = _always_kept(messages)
    fitted = fitting.fit(messages, budget_tokens, AdditiveCounter(cost), unit="message", pinned=pinned)
    return fitted, len(messages) - len(fitted)


def _always_kept(messages: Sequence[Message]) -> set[int]:
    """Indexes of the system messages and of the last user message, or without one of the last message."""
    kept = {index for index, message in enumerate(messages) if message.role in _SYSTEM_ROLES}
    users = [index for index, message in enumerate(messages) if message.role == "user"]
    return kept | set(users[-1:] or range(len(messages))[-1:])


def _characters(message: Message) -> int:
    return sum(map(len, _texts(message)))


def _texts(message: Message) -> Sequence[str]:
    return [message.text, *(call.arguments for call in message.tool_calls)]
