"""How many tokens of history fit beside the rest of a prompt, and how the prompt is put together around it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mnemoir.core.conversation_messages import Content, MediaPart, MediaType, Message, TextPart
from mnemoir.core.errors import InvalidRequest

UNKNOWN_CONTEXT_BUDGET = 2000  # tokens, for a model whose context size nobody knows
_MAX_TOKENS = "max_tokens"


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterRule:
    """A parameter of a model, and the general one it is built on; some models call `max_tokens` otherwise."""

    name: str
    use_template: str | None = None


def max_output_tokens(parameters: Mapping[str, Any], rules: Sequence[ParameterRule]) -> int:
    """What was given for the parameter that limits the answer, by its own name or by `max_tokens`; else 0."""
    for rule in rules:
        if _MAX_TOKENS not in (rule.name, rule.use_template):
            continue
        given = parameters.get(rule.name) or parameters.get(_MAX_TOKENS)
        if isinstance(given, int) and given > 0:
            return given
    return 0


def rest_tokens(*, context_size: int | None, max_output_tokens: int, prompt_tokens: int) -> int:
    """What is left of a model's context, never below 0; 2000 when its size is not known."""
    if context_size is None:
        return UNKNOWN_CONTEXT_BUDGET
    return max(0, context_size - max_output_tokens - prompt_tokens)


def history_budget(
    besides: Sequence[Message],
    *,
    count: Callable[[Sequence[Message]], int],
    context_size: int | None,
    max_output_tokens: int = 0,
    accepts: Collection[MediaType] | None = None,
) -> int:
    """The tokens left for history once all that is sent `besides` it is paid for: template, context, current query.

    Parts that the model does not accept are not sent, and cost nothing.
    """
    if context_size is None:
        return UNKNOWN_CONTEXT_BUDGET
    sent = without_refused_parts(besides, accepts)
    return rest_tokens(
        context_size=context_size, max_output_tokens=max_output_tokens, prompt_tokens=count(sent) if sent else 0
    )


def chat_prompt(
    template: Sequence[Message],
    history: Sequence[Message],
    current: Message,
    *,
    accepts: Collection[MediaType] | None = None,
) -> list[Message]:
    """The prompt of a chat: template with its system messages first, history, the current message.

    Raises InvalidRequest when nothing is left of it.
    """
    ordered = sorted(template, key=lambda message: message.role != "system")
    prompt = without_refused_parts([*ordered, *history, current], accepts)
    if not prompt:
        raise InvalidRequest(
            "The prompt is empty: neither the template, nor the history, nor the query holds anything that the model "
            "accepts. Write a query, or choose a model that takes the files."
        )
    return prompt


def without_refused_parts(messages: Sequence[Message], accepts: Collection[MediaType] | None) -> list[Message]:
    """The messages as a model that takes only these kinds of media gets them; None means that it takes all.

    A single text part becomes a plain text, and a message that is empty is left out.
    """
    sent = (replace(message, content=_accepted(message.content, accepts)) for message in messages)
    return [message for message in sent if not _is_empty(message)]


def _accepted(content: Content, accepts: Collection[MediaType] | None) -> Content:
    if not isinstance(content, list):
        return content
    parts = [part for part in content if isinstance(part, TextPart) or accepts is None or part.type in accepts]
    if len(parts) == 1 and isinstance(parts[0], TextPart):
        return parts[0].data
    return parts


def _is_empty(message: Message) -> bool:
    """True for one that says nothing, calls nothing and answers no call."""
    if message.tool_calls or message.tool_call_id:
        return False
    if isinstance(message.content, list) and any(isinstance(part, MediaPart) for part in message.content):
        return False
    return not message.text
