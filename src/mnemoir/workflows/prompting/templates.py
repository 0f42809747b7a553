"""Turns written out as text, the way a model was trained to read them.

Markers that tell roles apart in prompts sent to this server would be read as such by a server of the same kind behind
it, so no text that went through a template holds any.
"""

import re
from collections.abc import Sequence

from mnemoir.core.messages import Message, Role
from mnemoir.workflows.config.template import PromptTemplate

_MARKER = re.compile(r"\[Beg_(?:Sys|User|Assistant|SysMes)\]")


def formatted(messages: Sequence[Message], template: PromptTemplate) -> str:
    """All turns in a row, without anything between them; one by the assistant at the end is left open."""
    turns = [turn(message.role, message.text, template) for message in messages[:-1]]
    return "".join(turns) + "".join(_last_turn(message, template) for message in messages[-1:])


def turn(role: Role, text: str, template: PromptTemplate) -> str:
    """One closed turn: prefix, text and suffix."""
    prefix, suffix = template.around(role)
    return without_markers(f"{prefix}{text}{suffix}")


def assistant_opening(template: PromptTemplate) -> str:
    """What stands before the assistant's words."""
    return without_markers(template.assistant_prefix)


def generation_prompt(template: PromptTemplate) -> str:
    """What a prompt ends with so that the model speaks next."""
    return without_markers(template.assistant_prefix + template.end_token)


def without_markers(text: str) -> str:
    """The text without `[Beg_Sys]`, `[Beg_User]`, `[Beg_Assistant]` and `[Beg_SysMes]`."""
    return _MARKER.sub("", text) if "[Beg_" in text else text


def _last_turn(message: Message, template: PromptTemplate) -> str:
    if message.role != "assistant":
        return turn(message.role, message.text, template)
    return without_markers(template.assistant_prefix + message.text)
