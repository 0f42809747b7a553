"""Selection of a conversation's messages for a prompt: the newest ones, those that fit, and their marks in texts.

To fit a model's context whole messages are dropped, the oldest first. System messages and the last user message
always stay.

The marks are `#histories#` and `#sys.query#`, for the history and the user's message. Variables are filled in
first, then the marks. Only marks written by the author of the texts are replaced: text of a person or a model never
is.
"""

import re
import secrets
from collections.abc import Callable, Sequence

from mnemoir.conversations.turns.token_buffer import HISTORY_MARKER, QUERY_MARKER
from mnemoir.conversations.windows import fitting
from mnemoir.conversations.windows.counters import AdditiveCounter
from mnemoir.core.messages import Message, PlainMessages, role_at, roles_of, texts_of
from mnemoir.core.text import estimate_prompt_tokens

# `developer` is the role of system messages in newer versions of OpenAI's protocol
SYSTEM_ROLES = frozenset({"system", "developer"})
_SECRET = secrets.token_hex(16)  # replaces marks while variables are filled in; authors of texts cannot know it
_HIDDEN = {HISTORY_MARKER: f"<{_SECRET}:history>", QUERY_MARKER: f"<{_SECRET}:query>"}
_ANY_MARK = re.compile("|".join(map(re.escape, _HIDDEN)))
Estimate = Callable[[str], int]

TOKENS_AROUND_MESSAGE = 8
_MOST_CHARACTERS_PER_TOKEN = 16  # a text with more per token of the budget is too long, without estimating it
_SYSTEM_ROLES = SYSTEM_ROLES | {"systemMes"}


def last_for_chat(conversation: Sequence[Message], count: int) -> Sequence[Message]:
    """The last `count` messages after the leading system messages; later system messages are included and counted.

    [] for a count of 0. If all messages are system messages, the last `count` of them.
    """
    if count <= 0:
        return ()
    return conversation[max(_first_after_system(conversation), len(conversation) - count) :]


def window_for_chat(conversation: Sequence[Message], count: int) -> Sequence[Message]:
    """The last `count` messages in a form that providers accept: `last_for_chat`, with some corrections.

    The window does not begin with a tool result without its call; the newest calls, with results a model has yet to
    read, are never cut off. A window without a user message gets the last user message after its leading system
    messages.
    """
    window = last_for_chat(conversation, count)
    cut = len(conversation) - len(window)
    if window and cut > _first_after_system(conversation):
        window = without_orphans(conversation[_with_newest_calls(conversation, cut) :])
    if "user" in roles_of(window):
        return window
    asked = [message for message in conversation if message.role == "user"][-1:]
    place = _leading_system(window)
    return [*window[:place], *asked, *window[place:]]


def without_orphans(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages without tool results at their beginning, whose calls are missing.

    System messages before and between those results stay.
    """
    for index, role in enumerate(roles_of(messages)):
        if role != "tool" and role not in SYSTEM_ROLES:
            return (
                messages
                if not index
                else [*(one for one in messages[:index] if one.role != "tool"), *messages[index:]]
            )
    return [message for message in messages if message.role != "tool"]


def last_for_text(conversation: Sequence[Message], count: int) -> Sequence[Message]:
    """The last `count` + 1 messages that are not system messages.

    One more than requested, because prompts of existing configurations depend on it.
    """
    found: list[Message] = []
    for message in reversed(conversation):
        if len(found) > count:
            break
        if message.role not in SYSTEM_ROLES:
            found.append(message)
    return found[::-1]


def _with_newest_calls(conversation: Sequence[Message], start: int) -> int:
    """`start`, or the index of the message with the tool calls, if all messages from `start` on are its results."""
    if any(role != "tool" for role in roles_of(conversation[start:])):
        return start
    calling = start
    while calling > 0 and conversation[calling].role == "tool":
        calling -= 1
    return calling if conversation[calling].tool_calls else start


def _first_after_system(conversation: Sequence[Message]) -> int:
    """The index of the first message that is not a system message; 0 if all are."""
    leading = _leading_system(conversation)
    return leading if leading < len(conversation) else 0


def _leading_system(messages: Sequence[Message]) -> int:
    """The number of system messages before all others."""
    for index in range(len(messages)):
        if role_at(messages, index) not in SYSTEM_ROLES:
            return index
    return len(messages)


def with_hidden_marks(text: str) -> str:
    """The text with its marks replaced by secret ones, so that variables may be filled in."""
    return _ANY_MARK.sub(lambda found: _HIDDEN[found[0]], text) if "#" in text else text


def with_query(text: str, query: str) -> str:
    """The text with its hidden marks for the query replaced by the user's message."""
    return text.replace(_HIDDEN[QUERY_MARKER], query)


def with_history(text: str, history: str) -> str:
    """The text with its hidden marks for the history replaced by the history."""
    return text.replace(_HIDDEN[HISTORY_MARKER], history)


def places_history(text: str) -> bool:
    """True when the text has a hidden mark for the history."""
    return _HIDDEN[HISTORY_MARKER] in text


def fit(
    messages: Sequence[Message], budget_tokens: int, *, estimate: Estimate = estimate_prompt_tokens
) -> tuple[Sequence[Message], int]:
    """The messages that fit, in their order, and the number dropped.

    Counts from the newest and stops at the first that does not fit, so older messages cost no time. The messages that
    always stay may exceed the budget alone. A tool result is dropped with its call. Pictures do not count.
    """
    if TOKENS_AROUND_MESSAGE * len(messages) + _all_characters(messages) <= budget_tokens:
        return messages, 0  # no estimate exceeds one token per character
    most_characters = _MOST_CHARACTERS_PER_TOKEN * max(budget_tokens, 0)

    def cost(message: Message) -> int:
        if _characters(message) > most_characters:
            return max(budget_tokens, 0) + 1
        return TOKENS_AROUND_MESSAGE + sum(map(estimate, _texts(message)))

    pinned = _indexes_to_keep(messages)
    fitted = fitting.fit(messages, budget_tokens, AdditiveCounter(cost), unit="message", pinned=pinned)
    return fitted, len(messages) - len(fitted)


def _indexes_to_keep(messages: Sequence[Message]) -> set[int]:
    """Indexes of the system messages and of the last user message, or without one of the last message."""
    kept = {index for index, message in enumerate(messages) if message.role in _SYSTEM_ROLES}
    users = [index for index, message in enumerate(messages) if message.role == "user"]
    return kept | set(users[-1:] or range(len(messages))[-1:])


def _all_characters(messages: Sequence[Message]) -> int:
    return sum(map(len, texts_of(messages)) if isinstance(messages, PlainMessages) else map(_characters, messages))


def _characters(message: Message) -> int:
    return sum(map(len, _texts(message)))


def _texts(message: Message) -> Sequence[str]:
    return [message.text, *(call.arguments for call in message.tool_calls)]
