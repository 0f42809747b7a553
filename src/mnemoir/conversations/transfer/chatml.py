"""Writer of ChatML, a training format of models: a role and a text between two marks.

Marks inside a text are escaped: in every `<|`, and in every one escaped before, one more backslash is put before the
bar.
"""

import json
import re
from collections.abc import Iterator

from mnemoir.conversations.transfer.copies import SessionCopy
from mnemoir.conversations.transfer.plain import plain_text
from mnemoir.core.conversations import MediaPart, Message, calls_of

_MARK = re.compile(r"<(\\*)\|")


def write_chatml(session: SessionCopy) -> Iterator[bytes]:
    """The system prompt and the thread as ChatML."""
    if session.system_prompt:
        yield _turn("system", session.system_prompt)
    for copy in session.messages:
        yield _turn(copy.message.role, _said(copy.message))


def _turn(role: str, text: str) -> bytes:
    escaped = _MARK.sub(r"<\1\\|", plain_text(text))
    return f"<|im_start|>{role}\n{escaped}<|im_end|>\n".encode("utf-8", "replace")


def _said(message: Message) -> str:
    """The names of files, the text, and each tool call as a line of JSON."""
    parts = message.content if isinstance(message.content, list) else []
    files = [f"[{part.type}: {part.filename or 'without a name'}]" for part in parts if isinstance(part, MediaPart)]
    calls = [
        json.dumps({"tool_call": {"name": call.name, "arguments": dict(call.arguments)}}, ensure_ascii=False)
        for call in calls_of(message)
    ]
    return "\n".join(line for line in [*files, message.text, *calls] if line)
