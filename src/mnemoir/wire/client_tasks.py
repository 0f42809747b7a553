"""Side tasks: what chat apps ask a model for themselves, such as a title, tags, or a summary of the chat.

Nobody said these prompts, so nothing is recalled for them, learned from them, or kept of them. A client says so
itself in the header `X-Mnemoir-Task`; else a prompt is recognised by the frame of its template. Apps let users edit
their templates: what fits no frame is a person's turn, also where it begins as a template does.
"""

import re
from collections.abc import Sequence

from mnemoir.core.errors import InvalidRequest
from mnemoir.core.messages import Message
from mnemoir.wire.document_frames import question_in
from mnemoir.wire.task_templates import PROMPT_HEADS, SYSTEM_HEADS, TASK_TEMPLATES, TOOL_CHOICE

TASK_HEADER = "X-Mnemoir-Task"
_NAME = re.compile(r"[a-z_]{1,40}")
_INSTRUCTIONS = ("system", "developer", "systemMes")


def named_task(value: str | None) -> str | None:
    """The task that the header `X-Mnemoir-Task` names; None where it names none.

    Blank, `none`, and a placeholder that the client did not fill in name none. Raises InvalidRequest for a value that
    can be no name.
    """
    name = (value or "").strip()
    if not name or name.lower() == "none" or "{{" in name:
        return None
    if not _NAME.fullmatch(name):
        raise InvalidRequest(
            f"{TASK_HEADER} must be 1 to 40 lower-case letters and underscores, it is {name[:80]!r}. "
            "Leave it out, or send none, for what a person says.",
            field=TASK_HEADER,
        )
    return name


def recognised_task(messages: Sequence[Message]) -> str | None:
    """The side task that a request is, by the frames of known templates; None for a person's turn."""
    if not messages:
        return None
    prompt = messages[-1].text.strip()
    system = next((message.text.strip() for message in messages[:-1] if message.role in _INSTRUCTIONS), "")
    if not (prompt.startswith(PROMPT_HEADS) or system.startswith(SYSTEM_HEADS)):
        return None
    if question_in(prompt) is not None:  # a question about documents, whatever these say
        return None
    is_alone = sum(message.role not in _INSTRUCTIONS for message in messages) == 1
    found = (one.task for one in TASK_TEMPLATES if (is_alone or not one.is_alone) and one.fits(system, prompt))
    return next(found, None)


def is_task_prompt(text: str) -> bool:
    """Whether a text alone, without instructions beside it, is the whole prompt of a side task."""
    prompt = text.strip()
    return any(one.system is None and one.prompt is not None and one.prompt.fits(prompt) for one in TASK_TEMPLATES)


def asks_for_tools(messages: Sequence[Message]) -> bool:
    """Whether an app asks which of its tools to use."""
    return any(message.role == "system" and TOOL_CHOICE in message.text for message in messages)
