"""Writer of our own format, which `own_reading` describes."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from mnemoir.conversations.transfer.copies import Gap, MessageCopy, SessionCopy
from mnemoir.conversations.transfer.members import text_of_time
from mnemoir.conversations.transfer.own_reading import FORMAT, MISSING, VERSION
from mnemoir.core.conversations import Content, MediaPart, TextPart, calls_of

_PIECE = 2**16


def write_lines(session: SessionCopy) -> Iterator[bytes]:
    """The session as JSON lines."""
    yield from _together(_lines(session))


def write_object(session: SessionCopy) -> Iterator[bytes]:
    """The session as one JSON object, with one message per line."""
    yield _json_line(_header(session))[:-2].encode() + b',"messages":['
    separator = "\n"
    for number, message in enumerate(session.messages, start=1):
        yield f"{separator}{_json_line(_line(number, message))[:-1]}".encode()
        separator = ",\n"
    yield b"\n]}\n"


def write_gaps(gaps: Sequence[Gap], damaged_file: str | None) -> bytes:
    """The last line of an export that is incomplete. `damaged_file` may have held further sessions."""
    missing = [asdict(gap) for gap in gaps]
    return _json_line({"format": FORMAT, "version": VERSION, MISSING: missing, "damaged_file": damaged_file}).encode()


def _together(lines: Iterable[str]) -> Iterator[bytes]:
    """The lines joined into pieces of at least 64 KiB, because single lines are small."""
    taken: list[str] = []
    size = 0
    for line in lines:
        taken.append(line)
        size += len(line)
        if size >= _PIECE:
            yield "".join(taken).encode()
            taken, size = [], 0
    if taken:
        yield "".join(taken).encode()


def _lines(session: SessionCopy) -> Iterator[str]:
    yield _json_line(_header(session))
    for number, message in enumerate(session.messages, start=1):
        yield _json_line(_line(number, message))


def _header(session: SessionCopy) -> Mapping[str, Any]:
    about = {
        "id": session.id,
        "title": session.metadata.title,
        "user": session.metadata.user,
        "tags": session.metadata.tags,
        "custom": session.metadata.custom,
        "system_prompt": session.system_prompt,
        "created_at": text_of_time(session.created_at),
        "updated_at": text_of_time(session.updated_at),
    }
    return {"format": FORMAT, "version": VERSION, "session": about}


def _line(number: int, copy: MessageCopy) -> Mapping[str, Any]:
    message = copy.message
    line: dict[str, Any] = {
        "id": number,
        "uid": copy.uid,
        "parent_id": copy.parent or None,
        "role": message.role,
        "content": _text(message.content),
        "files": _files(message.content),
        "tool_calls": [asdict(call) for call in calls_of(message)] or None,
        "tool_call_id": message.tool_call_id,
        "name": message.name,
        "created_at": text_of_time(copy.created_at),
        "turn_id": copy.turn_id,
        "run_id": copy.run_id,
        "finish_reason": copy.finish_reason,
        "token_count": copy.token_count,
        "importance": copy.importance,
        "pinned": copy.pinned,
    }
    if copy.is_head:
        line["head"] = True
    if copy.ends_context:
        line["ends_context"] = True
    return line


def _text(content: Content) -> str | None:
    if not isinstance(content, list):
        return content
    return "".join(part.data for part in content if isinstance(part, TextPart)) or None


def _files(content: Content) -> list[dict[str, Any]] | None:
    files = [asdict(part) for part in content if isinstance(part, MediaPart)] if isinstance(content, list) else []
    return files or None


def _json_line(value: Mapping[str, Any]) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError:  # other programs store NaN, which JSON does not allow
        finite = json.loads(json.dumps(value), parse_constant=lambda name: None)
        text = json.dumps(finite, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace").decode() + "\n"
