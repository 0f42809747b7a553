"""Reader of our own format: a line for the session, then a line per message, by number; or both in one JSON object.

    {"format":"mnemoir-conversation","version":2,"session":{"id":"trip","title":"Lisbon", …}}
    {"id":1,"uid":"msg_7c…","parent_id":null,"role":"user","content":"Where to?", …}
    {"id":2,"uid":"msg_d0…","parent_id":1,"role":"assistant","content":"To the sea.", …,"head":true}

Several sessions in one file follow each other. The last line of an incomplete export is no session but says what is
missing:

    {"format":"mnemoir-conversation","version":2,"missing":[{"id":"tea","reason":"damaged messages: 1"}], …}

Readers ignore unknown members; a vector (`embedding`) is one of them,
because each store computes its own with its own model.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO, get_args

from mnemoir.conversations.transfer.bounded_json import MARK, MOST_BYTES, read_value
from mnemoir.conversations.transfer.copies import BEGINNING, InvalidImport, MessageCopy, SessionCopy
from mnemoir.conversations.transfer.members import Members
from mnemoir.core.conversations import (
    Content,
    MediaPart,
    MediaType,
    Message,
    Role,
    SessionMetadata,
    TextPart,
    ToolCall,
    metadata_of,
)
from mnemoir.core.errors import InvalidRequest

FORMAT, VERSION = "mnemoir-conversation", 2  # version 1 has no `uid`
MISSING = "missing"
_ROLES: Mapping[str, Role] = {role: role for role in get_args(Role)}
_MEDIA: Mapping[str, MediaType] = {media: media for media in get_args(MediaType)}
_MOST_TOKENS = 2**62
_UID = re.compile(r"msg_[0-9a-f]{32}")
_MEDIA_TEXTS = ("mime_type", "url", "base64_data", "format", "filename")


def read_lines(file: BinaryIO) -> Iterator[SessionCopy]:
    """The sessions of a file of JSON lines. Reading them raises InvalidImport that names the line."""
    lines = _Lines(file)
    while (header := lines.take()) is not None:
        place, value = header
        if not is_header(value):
            raise InvalidImport(f'{place} must begin a session: {{"format":"{FORMAT}", …}}. Is a line missing?')
        if MISSING not in value:
            yield _session(Members(value, place), lines.messages())
        for _ in lines.messages():  # skip messages that the caller did not read
            continue


def read_object(value: Any, place: str) -> SessionCopy:
    """The session of a JSON object. Reading its messages raises InvalidImport that names the message."""
    members = Members(value, place)
    messages = members.items("messages")
    numbered = ((f"Message {number}", each) for number, each in enumerate(messages, start=1))
    return _session(members, _read_messages(numbered))


def is_header(value: object) -> bool:
    """True when the value is the header of a session in our format."""
    return isinstance(value, dict) and value.get("format") == FORMAT


class _Lines:
    """The lines of a file, with one line of look-ahead."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._number = 0
        self._ahead: tuple[str, Any] | None = None

    def take(self) -> tuple[str, Any] | None:
        """The position and the value of the next line that is not blank; None at the end."""
        if self._ahead is not None:
            taken, self._ahead = self._ahead, None
            return taken
        while line := self._file.readline(MOST_BYTES + 1):
            self._number += 1
            if value := line.removeprefix(MARK).strip():
                place = f"Line {self._number}"
                return place, read_value(value, place)
        return None

    def messages(self) -> Iterator[MessageCopy]:
        """The messages up to the next session."""
        return _read_messages(self._values())

    def _values(self) -> Iterator[tuple[str, Any]]:
        while (line := self.take()) is not None:
            if is_header(line[1]):
                self._ahead = line
                return
            yield line


def _session(header: Members, messages: Iterator[MessageCopy]) -> SessionCopy:
    version = header.whole("version", 1, _MOST_TOKENS)
    if version is None or version > VERSION:
        raise InvalidImport(
            f"{header.place} is of version {version} of the format; this program reads up to {VERSION}. "
            "Import it with a newer Mnemoir."
        )
    about = header.object("session")
    return SessionCopy(
        messages=messages,
        place=header.place,
        id=about.text("id"),
        system_prompt=about.text("system_prompt") or "",
        metadata=_metadata(about),
        created_at=about.instant("created_at"),
        updated_at=about.instant("updated_at"),
    )


def _metadata(about: Members) -> SessionMetadata:
    try:
        return metadata_of({name: about.raw(name) for name in ("title", "user", "tags", "custom")})
    except InvalidRequest as exc:
        raise InvalidImport(f"{about.place}: {exc.message}") from None


def _read_messages(values: Iterable[tuple[str, Any]]) -> Iterator[MessageCopy]:
    for number, (place, value) in enumerate(values, start=1):
        yield _message(Members(value, place), number)


def _message(line: Members, number: int) -> MessageCopy:
    told = line.whole("id", 1, _MOST_TOKENS)
    if told not in (None, number):
        raise InvalidImport(f"{line.place} has the id {told}, and it is message {number} of its session.")
    return MessageCopy(
        message=Message(
            _role(line), _content(line), _calls(line) or None, line.text("tool_call_id"), line.text("name")
        ),
        parent=_parent(line, number),
        place=line.place,
        created_at=line.instant("created_at"),
        turn_id=line.text("turn_id"),
        run_id=line.text("run_id"),
        finish_reason=line.text("finish_reason"),
        token_count=line.whole("token_count", 0, _MOST_TOKENS),
        importance=line.number("importance", 0, 1),
        pinned=line.truth("pinned"),
        uid=_uid(line),
        is_head=line.truth("head"),
        ends_context=line.truth("ends_context"),
    )


def _parent(line: Members, number: int) -> int:
    """The number of the parent; without the member, the message before it."""
    if "parent_id" not in line:
        return number - 1
    parent = line.whole("parent_id", 1, _MOST_TOKENS)
    if parent is not None and parent >= number:
        raise InvalidImport(
            f"{line.place}: message {number} has the parent {parent}, but a parent must come before its children."
        )
    return BEGINNING if parent is None else parent


def _uid(line: Members) -> str | None:
    uid = line.text("uid")
    if uid is not None and not _UID.fullmatch(uid):
        raise line.wrong("uid", "msg_ and 32 hex digits in lower case")
    return uid


def _role(line: Members) -> Role:
    name = line.text("role") or ""
    if name not in _ROLES:
        raise line.wrong("role", f"one of {', '.join(_ROLES)}")
    return _ROLES[name]


def _content(line: Members) -> Content:
    text = line.text("content")
    files = [_file(Members(each, f"{line.place}, files")) for each in line.items("files")]
    if not files:
        return text
    return [*files, TextPart(text)] if text else [*files]


def _file(members: Members) -> MediaPart:
    kind, detail = members.text("type") or "", members.text("detail")
    if kind not in _MEDIA:
        raise members.wrong("type", f"one of {', '.join(_MEDIA)}")
    if detail not in (None, "low", "high"):
        raise members.wrong("detail", "low or high")
    texts = {name: members.text(name) or "" for name in _MEDIA_TEXTS}
    return MediaPart(
        type=_MEDIA[kind],
        detail="high" if detail == "high" else "low",
        tokens=members.whole("tokens", 0, _MOST_TOKENS),
        **texts,
    )


def _calls(line: Members) -> list[ToolCall]:
    calls = [Members(each, f"{line.place}, tool_calls") for each in line.items("tool_calls")]
    return [_call(members) for members in calls]


def _call(members: Members) -> ToolCall:
    call_id, name, arguments = members.text("id"), members.text("name"), members.raw("arguments")
    if call_id is None or name is None or not isinstance(arguments, dict):
        raise members.wrong("arguments", "an object, together with the texts id and name")
    return ToolCall(call_id, name, arguments)
