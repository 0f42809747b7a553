"""Exports and imports for tests: a session with all possible members, and stores to move it between."""

import json
from collections.abc import Sequence
from typing import Any

from mnemoir.conversations import MediaPart, MemoryManager, Message, TextPart, ToolCall
from mnemoir.conversations.transfer import export_all, export_session
from mnemoir.core.conversations import ROOT

HEADER = {"format": "mnemoir-conversation", "version": 2}
PICTURE = MediaPart(
    type="image", url="https://pictures.example/map.png", filename="map.png", detail="high", tokens=85
)


def rich_session(manager: MemoryManager, session_id: str = "trip") -> list[int]:
    """A session with two roots, branches, a mark, files, calls, a pin, a score and a run; the ids of its messages."""
    metadata = {"title": "Lisbon", "user": "ann", "tags": ["sea", "été"], "budget": {"euro": [1, 2.5, None]}}
    manager.create_session("Be kind.", metadata, session_id)
    ids = manager.append_messages(session_id, [Message("user", "Where to?"), Message("assistant", "To the sea.")])
    ids += manager.append_messages(
        session_id, [Message("assistant", "To the hills.\n")], parent_id=ids[0], run_id="run_1", finish_reason="stop"
    )
    manager.clear_context(session_id)
    look = [
        Message("user", [PICTURE, TextPart("Is it \ud83d\ude00 here? \x1b[31m 你好")]),
        Message("assistant", None, [ToolCall("call_0", "look", {"at": ["map", 1.5, True]})]),
        Message("tool", "", tool_call_id="call_0", name="look"),
        Message("user", [PICTURE]),
    ]
    ids += manager.append_messages(session_id, look)
    ids += manager.append_messages(session_id, [Message("user", "Another beginning")], parent_id=ROOT)
    manager.pin_message(ids[1])
    manager.storage.set_importance({ids[0]: 0.25, ids[1]: 1})
    manager.storage.set_head(session_id, ids[5])
    return ids


def all_of(manager: MemoryManager) -> bytes:
    return b"".join(export_all(manager))


def exported(manager: MemoryManager, session_id: str = "trip", format: Any = "jsonl", **options: Any) -> bytes:
    return b"".join(export_session(manager, session_id, format, **options))


def lines(*messages: dict[str, Any], **about: Any) -> bytes:
    """A file of one session in our own format."""
    values = [{**HEADER, "session": {"id": "s", **about}}, *messages]
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def said(role: str, content: str | None, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


def texts(manager: MemoryManager, session_id: str = "s") -> list[str]:
    return [message.text for message in manager.load_session(session_id)]


def tree(manager: MemoryManager, session_id: str = "s") -> Sequence[tuple[str, str | None]]:
    """Each message of all branches with its parent's text, by id."""
    found = manager.storage.message_tree(session_id, 1000)
    names = {stored.id: stored.message.text for stored in found}
    return [(stored.message.text, names.get(stored.parent_id or 0)) for stored in found]


HELLO = [said("user", "hi"), said("assistant", "hello")]
