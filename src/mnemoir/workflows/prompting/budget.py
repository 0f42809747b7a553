"""A conversation cut to what a model's context holds: whole messages, the oldest first.

What was written to be sent stays: system messages, and the last thing the user said.
"""

from collections.abc import Callable, Sequence

from mnemoir.core.messages import Message
from mnemoir.core.tokens import estimate_prompt_tokens
from mnemoir.workflows.prompting.history import SYSTEM_ROLES, without_orphans

Estimate = Callable[[str], int]

_TOKENS_AROUND_MESSAGE = 8
_MOST_CHARACTERS_PER_TOKEN = 16  # over this, the length alone tells that a text is too long, without counting
_SYSTEM_ROLES = SYSTEM_ROLES | {"systemMes"}


def fit(
    messages: Sequence[Message], budget_tokens: int, *, estimate: Estimate = estimate_prompt_tokens
) -> tuple[list[Message], int]:
    """The messages that fit, in their order, and how many were dropped.

    Counts from the newest and stops at the first that does not fit: what is older is never counted. What always stays
    may be over the budget alone. The answer of a tool is dropped with the call it answers. Pictures do not count.
    """
    if sum(_TOKENS_AROUND_MESSAGE + _characters(message) for message in messages) <= budget_tokens:
        return list(messages), 0  # no estimate says more than a token for each character
    kept = _always_kept(messages)
    left = budget_tokens
    for index in kept:
        left -= _tokens(messages[index], left, estimate)
    start = _first_that_fits(messages, kept, left, estimate)
    if start == 0:
        return list(messages), 0
    fitting = [*(messages[index] for index in sorted(kept) if index < start), *without_orphans(messages[start:])]
    return fitting, len(messages) - len(fitting)


def _always_kept(messages: Sequence[Message]) -> frozenset[int]:
    """Positions of the system messages and of the last user's message; of the last one, where no user speaks."""
    kept = {index for index, message in enumerate(messages) if message.role in _SYSTEM_ROLES}
    from_newest = reversed(range(len(messages)))
    last = next((index for index in from_newest if messages[index].role == "user"), len(messages) - 1)
    return frozenset(kept | {last} if messages else kept)


def _first_that_fits(messages: Sequence[Message], kept: frozenset[int], left: int, estimate: Estimate) -> int:
    for index in reversed(range(len(messages))):
        if index in kept:
            continue
        left -= _tokens(messages[index], left, estimate)
        if left < 0:
            return index + 1
    return 0


def _tokens(message: Message, most: int, estimate: Estimate) -> int:
    """Tokens of a message; any number over `most` for one that is clearly longer."""
    if _characters(message) > _MOST_CHARACTERS_PER_TOKEN * max(most, 0):
        return max(most, 0) + 1
    return _TOKENS_AROUND_MESSAGE + sum(map(estimate, _texts(message)))


def _characters(message: Message) -> int:
    return sum(map(len, _texts(message)))


def _texts(message: Message) -> Sequence[str]:
    return [message.text, *(call.arguments for call in message.tool_calls)]
