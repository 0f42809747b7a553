"""Shared parts of the protocols for text completion: one prompt, one text, and the markers of roles in a prompt.

A turn runs from its marker to the next one, or to the end of the text. Apps that only support text completion
send them, with an instruct template made for WilmerAI's format.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

from mnemoir.core.errors import ProviderRefused
from mnemoir.core.events import FinishReason
from mnemoir.core.messages import Message, ModelRequest, Role, text_message
from mnemoir.wire.openai_shapes import EndReason, TextChoice

_MARKER = re.compile(r"\[Beg_(\w+)\]")
_ROLES: Mapping[str, Role] = {"Sys": "system", "User": "user", "Assistant": "assistant", "SysMes": "systemMes"}


def prompt_of(request: ModelRequest) -> str:
    """The text of the request's single message."""
    if len(request.messages) != 1:
        raise ProviderRefused("A text completion takes one prompt; ask this model by a chat protocol for more.")
    return request.messages[0].text


def write_choice(text: str, reason: FinishReason | None) -> TextChoice:
    """A piece of an answer, or all of it. The protocol has no tools: an answer that calls them ends with `stop`."""
    told: EndReason | None = "stop" if reason == "tool_calls" else reason
    return {"text": text, "index": 0, "logprobs": None, "finish_reason": told}


def read_marked(text: str) -> tuple[Message, ...] | None:
    """The turns of a marked prompt, trimmed; None for a text without any of the four markers.

    The first `[Beg_Sys]` is the system prompt, each later one a system message within the conversation. Text before
    the first marker is left out, and so is a turn whose marker is none of the four. A turn may be empty.
    """
    return tuple(_messages(_turns(text))) or None


def _turns(text: str) -> Iterator[tuple[str, str]]:
    """Each marker's word, with the text after it."""
    for marker, following in pairwise([*_MARKER.finditer(text), None]):
        if marker is not None:
            yield marker[1], text[marker.end() : following.start() if following else len(text)].strip()


def _messages(turns: Iterator[tuple[str, str]]) -> Iterator[Message]:
    has_system = False
    for word, text in turns:
        role = _ROLES.get(word)
        if role == "system":
            role = "systemMes" if has_system else "system"
            has_system = True
        if role is not None:
            yield text_message(role, text)
