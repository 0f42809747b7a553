"""The token budget of the history in a prompt, and the assembly of the prompt."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mnemoir.core.conversations import Content, MediaPart, MediaType, Message, TextPart
from mnemoir.core.errors import InvalidRequest

UNKNOWN_CONTEXT_BUDGET = 2000  # tokens, for a model of unknown context size
_MAX_TOKENS = "max_tokens"


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterRule:
    """A parameter of a model and the general parameter behind it: some models have another name for `max_tokens`."""

    name: str
    use_template: str | None = None


def max_output_tokens(parameters: Mapping[str, Any], rules: Sequence[ParameterRule]) -> int:
    """The limit on the answer's tokens, given by the parameter's own name or as `max_tokens`; 0 when not given."""
    for rule in rules:
        if _MAX_TOKENS not in (rule.name, rule.use_template):
            continue
        given = parameters.get(rule.name) or parameters.get(_MAX_TOKENS)
        if isinstance(given, int) and given > 0:
            return given
    return 0


def rest_tokens(*, context_size: int | None, max_output_tokens: int, prompt_tokens: int) -> int:
    """The tokens left of a model's context, at least 0; 2000 when its size is unknown."""
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
    """The tokens left for history besides the other messages of the prompt: template, context, current query.

    Parts that the model does not accept are not sent and not counted.
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
    """The prompt of a chat: the template with its system messages first, the history, the current message.

    Raises InvalidRequest when the prompt is empty.
    """
    ordered = sorted(template, key=lambda message: message.role != "system")
    prompt = without_refused_parts([*ordered, *history, current], accepts)
    if not prompt:
        raise InvalidRequest(
            "The prompt is empty: template, history and query contain nothing that the model "
            "accepts. Write a query, or choose a model that takes the files."
        )
    return prompt


def without_refused_parts(messages: Sequence[Message], accepts: Collection[MediaType] | None) -> list[Message]:
    """The messages without media that the model does not accept; None means that it accepts all.

    A single text part becomes a plain text, and an empty message is left out.
    """
    sent = (replace(message, content=_accepted_content(message.content, accepts)) for message in messages)
    return [message for message in sent if not _is_empty(message)]


def _accepted_content(content: Content, accepts: Collection[MediaType] | None) -> Content:
    if not isinstance(content, list):
        return content
    parts = [part for part in content if isinstance(part, TextPart) or accepts is None or part.type in accepts]
    if len(parts) == 1 and isinstance(parts[0], TextPart):
        return parts[0].data
    return parts


def _is_empty(message: Message) -> bool:
    """True for a message without text, media, tool calls and call id."""
    if message.tool_calls or message.tool_call_id:
        return False
    if isinstance(message.content, list) and any(isinstance(part, MediaPart) for part in message.content):
        return False
    return not message.text
