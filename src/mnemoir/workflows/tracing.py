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


def traced_text(text: str) -> str:
    """The end of a text, where the newest of a conversation stands; its beginning tells what is left out."""
    left_out = len(text) - MOST_TRACED_CHARACTERS
    return text if left_out <= 0 else f"[{left_out} earlier characters are not shown.]\n{text[left_out:]}"


def add_tokens(trace: NodeTrace, usage: Usage, prompt: Sequence[Message], output: Sequence[str]) -> None:
    """Add what one call took, as the model's server counted it; estimated where it reported nothing.

    `output` is the answer in its pieces.
    """
    if not (usage.input_tokens or usage.output_tokens):
        spent = sum(estimate_prompt_tokens(message.text) for message in prompt)
        usage = Usage(input_tokens=spent, output_tokens=estimate_prompt_tokens("".join(output)))
        trace.tokens_counted = True
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
