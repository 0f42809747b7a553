"""Shared parts of the protocols for text completion: one prompt, one text."""

from mnemoir.core.errors import ProviderRefused
from mnemoir.core.events import FinishReason
from mnemoir.core.messages import ModelRequest
from mnemoir.wire.openai_shapes import EndReason, TextChoice


def prompt_of(request: ModelRequest) -> str:
    """The text of the request's single message."""
    if len(request.messages) != 1:
        raise ProviderRefused("A text completion takes one prompt; ask this model by a chat protocol for more.")
    return request.messages[0].text


def write_choice(text: str, reason: FinishReason | None) -> TextChoice:
    """A piece of an answer, or all of it. The protocol has no tools: an answer that calls them ends with `stop`."""
    told: EndReason | None = "stop" if reason == "tool_calls" else reason
    return {"text": text, "index": 0, "logprobs": None, "finish_reason": told}
