"""Formatting of turns as text, by the template a model was trained with.

Role markers in prompts to this server have the same meaning for a server of the same kind behind it, so they are
removed from every formatted text.
"""

import re
from collections.abc import Sequence

from mnemoir.core.messages import Message, Role
from mnemoir.workflows.config.template import PromptTemplate

_MARKER = re.compile(r"\[Beg_(?:Sys|User|Assistant|SysMes)\]")


def formatted(messages: Sequence[Message], template: PromptTemplate) -> str:
    """All turns in a row without separators; a last turn of the assistant is left open."""
    turns = [turn(message.role, message.text, template) for message in messages[:-1]]
    return "".join(turns) + "".join(_last_turn(message, template) for message in messages[-1:])


def turn(role: Role, text: str, template: PromptTemplate) -> str:
    """One closed turn: prefix, text and suffix of its role."""
    prefix, suffix = template.around(role)
    return without_markers(f"{prefix}{text}{suffix}")


def assistant_opening(template: PromptTemplate) -> str:
    """The beginning of a turn of the assistant."""
    return without_markers(template.assistant_prefix)


def generation_prompt(template: PromptTemplate) -> str:
    """The end of a prompt that makes the model answer next."""
    return without_markers(template.assistant_prefix + template.end_token)


def without_markers(text: str) -> str:
    """The text without `[Beg_Sys]`, `[Beg_User]`, `[Beg_Assistant]` and `[Beg_SysMes]`."""
    return _MARKER.sub("", text) if "[Beg_" in text else text


def _last_turn(message: Message, template: PromptTemplate) -> str:
    if message.role != "assistant":
        return turn(message.role, message.text, template)
    return without_markers(template.assistant_prefix + message.text)
