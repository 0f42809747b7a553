"""Digests of messages in 16 bytes, with which a history that a client sends again is found among stored messages.

Clients return a message as they display it: with or without a model's thinking, trimmed, with other ids of tool
calls. The digest ignores these differences.
"""

import json
from hashlib import blake2b

from mnemoir.conversations.attachments.links import media_digest
from mnemoir.conversations.log.message_rows import Columns, message_of
from mnemoir.core.conversations import MediaPart, Message, MessageRecord, calls_of

PASSED_OVER = b""  # for system messages, which are not compared
_BYTES = 16
# A rule of its own, not that of core/thinking.py: stored digests depend on it, and it is for what clients show, where
# any block may be missing, and not for what a model wrote.
_THINKING = (("<think>", "</think>"), ('<details type="reasoning"', "</details>"))


def message_digest(record: MessageRecord) -> bytes:
    """The digest, equal for messages with equal content; PASSED_OVER for a system message.

    Compared are the role, the text, the names and arguments of tool calls, and files: by their bytes, or their URLs.
    """
    if record.role == "system":
        return PASSED_OVER
    said = [record.role, _text_without_thoughts(record.role, record.content or "")]
    if record.tool_calls or record.files:
        said += _calls_and_files(record)
    made = blake2b(digest_size=_BYTES)
    for text in said:
        raw = text.encode("utf-8", "replace")
        made.update(b"%d:" % len(raw))
        made.update(raw)
    return made.digest()


def _text_without_thoughts(role: str, text: str) -> str:
    if role == "assistant" and "<" in text:
        for begin, end in _THINKING:
            text = _without(text, begin, end)
    return text.strip()


def _without(text: str, begin: str, end: str) -> str:
    """The text without the parts between `begin` and `end`; an unclosed part stays. Always in linear time."""
    kept, at = [], 0
    while (start := text.find(begin, at)) >= 0 and (stop := text.find(end, start + len(begin))) >= 0:
        kept.append(text[at:start])
        at = stop + len(end)
    return "".join([*kept, text[at:]])


def _calls_and_files(record: MessageRecord) -> list[str]:
    columns = Columns(role=record.role, tool_calls=record.tool_calls, files=record.files)
    message = message_of(record.id or 0, columns)
    return [] if message is None else [*_calls(message), *_files(message)]


def _calls(message: Message) -> list[str]:
    return [
        f"call {call.name} {json.dumps(call.arguments, ensure_ascii=False, sort_keys=True)}"
        for call in calls_of(message)
    ]


def _files(message: Message) -> list[str]:
    parts = message.content if isinstance(message.content, list) else []
    return [f"file {media_digest(part)}" for part in parts if isinstance(part, MediaPart)]
