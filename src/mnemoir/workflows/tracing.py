"""What a trace shows of prompts and outputs: enough to see what was asked, and not a second copy of a long log."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from mnemoir.core.events import Usage
from mnemoir.core.messages import ImagePart, Message
from mnemoir.core.runs import MOST_TRACED_CHARACTERS, NodeTrace
from mnemoir.core.tokens import estimate_prompt_tokens


def shown(value: object) -> str:
    """A node's output as text: itself, nothing for None, JSON for lists and objects."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        return str(value)


def traced_messages(messages: Sequence[Message]) -> list[Mapping[str, Any]]:
    """The newest messages that fit, in order, pictures by number; a first entry tells what is left out."""
    kept: list[Mapping[str, Any]] = []
    left = MOST_TRACED_CHARACTERS
    for message in reversed(messages):
        text = message.text
        if kept and len(text) > left:
            break
        kept.append(_traced(message, text[:left]))
        left -= len(text)
    kept.reverse()
    if len(kept) < len(messages):
        kept.insert(0, {"role": "note", "content": f"{len(messages) - len(kept)} earlier messages are not shown."})
    return kept


def count_tokens(trace: NodeTrace, prompt: str | Sequence[Message], output: str) -> None:
    """Estimate what the model's server did not report."""
    if trace.input_tokens or trace.output_tokens:
        return
    texts = [prompt] if isinstance(prompt, str) else [message.text for message in prompt]
    trace.input_tokens = sum(map(estimate_prompt_tokens, texts))
    trace.output_tokens = estimate_prompt_tokens(output)
    trace.tokens_counted = True


def add_usage(trace: NodeTrace, usage: Usage) -> None:
    """Tokens as the model's server counted them; a node that asks several times sums them."""
    trace.input_tokens += usage.input_tokens
    trace.output_tokens += usage.output_tokens


def _traced(message: Message, text: str) -> Mapping[str, Any]:
    shown_message: dict[str, Any] = {"role": message.role, "content": text}
    images = sum(isinstance(part, ImagePart) for part in message.parts)
    if images:
        shown_message["images"] = images
    if message.tool_calls:
        shown_message["tool_calls"] = [call.name for call in message.tool_calls]
    return shown_message
