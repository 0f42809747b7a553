"""Conversion of a node's rounds to records, and of records to messages.

A round is a prompt of the node, its tool calls and results, and its answer. All records of a round hold the id of the
turn and of its parent.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from enum import Enum
from typing import Any, Literal, Protocol

from mnemoir.conversations.log.files import Detail, FileRef, HistoryFiles, StoredFile
from mnemoir.conversations.nodes.document import NodeMemoryFile, NodeMemoryMessage, as_json
from mnemoir.conversations.windows.counters import TokenCounter
from mnemoir.core.conversations import Content, Message, ToolCall, calls_of
from mnemoir.core.errors import InvalidRequest

Side = Literal["user", "assistant"]
_ID_MEMBERS = {"local_file": "upload_file_id", "tool_file": "tool_file_id"}  # the meaning of a file's `related_id`


class FoundFile(Protocol):
    """A file object of the application; `related_id` is the id of the upload or of the tool's file."""

    @property
    def type(self) -> str: ...

    @property
    def transfer_method(self) -> str: ...

    @property
    def related_id(self) -> str | None: ...

    @property
    def remote_url(self) -> str | None: ...


ReplayedFile = FileRef | NodeMemoryFile | StoredFile | FoundFile


def round_of(
    message_id: str,
    parent_message_id: str | None,
    messages: Sequence[Message],
    *,
    files: tuple[Sequence[ReplayedFile], Sequence[ReplayedFile]],
    counter: TokenCounter,
    at: datetime,
) -> list[NodeMemoryMessage]:
    """The records of one round; `files` are those of its first message and of its last.

    Raises InvalidRequest when the arguments of a tool call are not JSON.
    """
    ids = {"message_id": message_id, "parent_message_id": parent_message_id}
    records = [
        NodeMemoryMessage(
            created_at=at,
            token_count=counter.count_one(message),
            **_storable({**ids, "role": message.role, "content": message.text, **_tool_members(message)}),
        )
        for message in messages
    ]
    records[0].files = [stored_file(file, "user") for file in files[0]]
    records[-1].files = [stored_file(file, "assistant") for file in files[1]]
    return records


def stored_file(file: ReplayedFile, belongs_to: Side) -> NodeMemoryFile:
    """The stored reference to a file of the application."""
    kind, method = _word(file.type), _word(file.transfer_method)
    if isinstance(file, FileRef | NodeMemoryFile):
        places = {"upload_file_id": file.upload_file_id, "tool_file_id": file.tool_file_id, "url": file.url}
    else:
        places = {"url": file.remote_url}
        if method in _ID_MEMBERS:
            places[_ID_MEMBERS[method]] = file.related_id
    return NodeMemoryFile(**_storable({"type": kind, "transfer_method": method, "belongs_to": belongs_to, **places}))


def answered_rounds(records: Sequence[NodeMemoryMessage]) -> list[NodeMemoryMessage]:
    """The records without unanswered rounds, which have no answer text, no file and no tool call."""
    return [record for round in _rounds(records) if _is_answered(round) for record in round]


def as_messages(records: Sequence[NodeMemoryMessage], files: HistoryFiles | None, detail: Detail) -> list[Message]:
    """The records as messages for a model, without files when `files` is None.

    Records of unknown roles are left out, and records without text whose files are all missing.
    """
    return [message for record in records if (message := _message(record, files, detail))]


def _message(record: NodeMemoryMessage, files: HistoryFiles | None, detail: Detail) -> Message | None:
    content: Content = record.content
    if files is not None and record.files:
        content = files.content(record.content, [_ref(file) for file in record.files], detail=detail)
        if not content:
            return None
    if record.role == "user":
        return Message("user", content)
    if record.role == "assistant":
        calls = _calls(record)
        return Message("assistant", None if calls and not content else content, tool_calls=calls)
    if record.role == "tool":
        return Message("tool", content, tool_call_id=_text(record, "tool_call_id"), name=_text(record, "name"))
    return None


def _rounds(records: Sequence[NodeMemoryMessage]) -> Iterator[list[NodeMemoryMessage]]:
    round: list[NodeMemoryMessage] = []
    for record in records:
        if record.role == "user" and round:
            yield round
            round = []
        round.append(record)
    if round:
        yield round


def _is_answered(round: Sequence[NodeMemoryMessage]) -> bool:
    has_files = any(record.files for record in round)
    return has_files or any(record.role != "user" and (record.content or _calls(record)) for record in round)


def _ref(file: NodeMemoryFile) -> FileRef:
    return FileRef(
        type=file.type,
        transfer_method=file.transfer_method,
        upload_file_id=file.upload_file_id,
        tool_file_id=file.tool_file_id,
        url=file.url,
        belongs_to="assistant" if file.belongs_to == "assistant" else "user",
    )


def _tool_members(message: Message) -> dict[str, Any]:
    """The record members for tool calls and results; {} for other messages."""
    calls = [{"id": call.id, "name": call.name, "arguments": dict(call.arguments)} for call in calls_of(message)]
    members = {"tool_calls": calls, "tool_call_id": message.tool_call_id, "name": message.name}
    return {name: value for name, value in members.items() if value}


def _storable(members: dict[str, Any]) -> dict[str, Any]:
    """The members in JSON types, equal to what a later read returns. Raises InvalidRequest."""
    try:
        stored: dict[str, Any] = as_json(members)
    except (TypeError, ValueError, RecursionError) as exc:
        raise InvalidRequest(f"The arguments of a tool call must be JSON: {exc}.", field="steps") from exc
    return stored


def _text(record: NodeMemoryMessage, member: str) -> str | None:
    value = (record.model_extra or {}).get(member)
    return value if isinstance(value, str) else None


def _calls(record: NodeMemoryMessage) -> list[ToolCall] | None:
    """The tool calls of a record; calls without id or name are skipped. None for no calls."""
    stored = (record.model_extra or {}).get("tool_calls")
    calls = [_call(call) for call in stored if isinstance(call, dict)] if isinstance(stored, list) else []
    return [call for call in calls if call] or None


def _call(stored: dict[str, Any]) -> ToolCall | None:
    id, name, arguments = stored.get("id"), stored.get("name"), stored.get("arguments")
    if not (isinstance(id, str) and isinstance(name, str)):
        return None
    return ToolCall(id, name, arguments if isinstance(arguments, dict) else {})


def _word(value: str) -> str:
    """The value of an enumeration member, or of a plain text, as text."""
    return str(value.value) if isinstance(value, Enum) else value
