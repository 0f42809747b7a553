"""A conversation cut to what a model's context holds: whole messages, the oldest first.

What was written to be sent stays: system messages, and the last thing the user said.
"""

from collections.abc import Callable, Sequence

from mnemoir.conversations.windows import fitting
from mnemoir.conversations.windows.counters import AdditiveCounter
from mnemoir.core.messages import Message
from mnemoir.core.text import estimate_prompt_tokens
from mnemoir.workflows.prompting.history import SYSTEM_ROLES

Estimate = Callable[[str], int]

TOKENS_AROUND_MESSAGE = 8
_MOST_CHARACTERS_PER_TOKEN = 16  # over this, the length alone tells that a text is too long, without counting
_SYSTEM_ROLES = SYSTEM_ROLES | {"systemMes"}


def fit(
    messages: Sequence[Message], budget_tokens: int, *, estimate: Estimate = estimate_prompt_tokens
) -> tuple[list[Message], int]:
    """The messages that fit, in their order, and how many were dropped.

    Counts from the newest and stops at the first that does not fit: what is older is never counted. What always stays
    may be over the budget alone. The answer of a tool is dropped with the call it answers. Pictures do not count.
    """
    if sum(TOKENS_AROUND_MESSAGE + _characters(message) for message in messages) <= budget_tokens:
        return list(messages), 0  # no estimate says more than a token for each character
    most_characters = _MOST_CHARACTERS_PER_TOKEN * max(budget_tokens, 0)

    def cost(message: Message) -> int:
        if _characters(message) > most_characters:
            return max(budget_tokens, 0) + 1
        return TOKENS_AROUND_MESSAGE + sum(map(estimate, _texts(message)))

    pinned = _always_kept(messages)
    fitted = fitting.fit(messages, budget_tokens, AdditiveCounter(cost), unit="message", pinned=pinned)
    return fitted, len(messages) - len(fitted)


def _always_kept(messages: Sequence[Message]) -> set[int]:
    """Positions of the system messages and of the last user's message; of the last one, where no user speaks."""
    kept = {index for index, message in enumerate(messages) if message.role in _SYSTEM_ROLES}
    users = [index for index, message in enumerate(messages) if message.role == "user"]
    return kept | set(users[-1:] or range(len(messages))[-1:])


def _characters(message: Message) -> int:
    return sum(map(len, _texts(message)))


def _texts(message: Message) -> Sequence[str]:
    return [message.text, *(call.arguments for call in message.tool_calls)]
