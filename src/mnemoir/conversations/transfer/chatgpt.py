"""Reader of ChatGPT's exports: each conversation is a tree of nodes, some of which are hidden.

The archive of an export is read directly. A tool call is a message whose recipient is not "all". Pictures and
recordings become texts with their names, because their files are on servers that no model can reach.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import IO, BinaryIO, get_args

from mnemoir.conversations.transfer.bounded_json import read_value
from mnemoir.conversations.transfer.copies import BEGINNING, InvalidImport, MessageCopy, SessionCopy
from mnemoir.conversations.transfer.files import conversation_entries, is_archive, opened_archive
from mnemoir.conversations.transfer.foreign_trees import ForeignNode, in_order
from mnemoir.conversations.transfer.members import Members, conversations_in, session_id_of
from mnemoir.core.conversations import Message, Role, SessionMetadata, ToolCall

_ROLES: Mapping[str, Role] = {role: role for role in get_args(Role)}
_NOT_SAID = frozenset(
    {"user_editable_context", "model_editable_context", "thoughts", "reasoning_recap", "app_pairing_content"}
)
_FINISHED = {"max_tokens": "length", "interrupted": "incomplete"}
_MEDIA = ("image", "audio", "video")
_UNFINISHED = ("in_progress", "finished_partial_completion")


def read_chatgpt(file: BinaryIO) -> Iterator[SessionCopy]:
    """The conversations of the file. Reading them raises InvalidImport that names the conversation."""
    if is_archive(file):
        with opened_archive(file) as archive:
            for entry in conversation_entries(archive):
                with archive.open(entry) as inner:
                    yield from _conversations(inner)
    else:
        yield from _conversations(file)


def _conversations(file: IO[bytes]) -> Iterator[SessionCopy]:
    for item, raw in conversations_in(file):
        nodes = item.objects("mapping")
        yield SessionCopy(
            messages=in_order(_with_calls(nodes), item.text("current_node") or None, item.place),
            place=item.place,
            id=session_id_of(item.text("conversation_id") or item.text("id"), raw),
            metadata=SessionMetadata(title=item.text("title"), custom={"imported_from": "chatgpt"}),
            created_at=item.instant("create_time"),
            updated_at=item.instant("update_time"),
        )


def _with_calls(nodes: Mapping[str, Members]) -> Mapping[str, ForeignNode]:
    return {name: _node(name, members, nodes) for name, members in nodes.items()}


def _node(name: str, members: Members, nodes: Mapping[str, Members]) -> ForeignNode:
    message, parent = members.object("message"), members.text("parent") or None
    created_at = message.instant("create_time")
    if message.object("metadata").raw("is_visually_hidden_from_conversation") is True:
        return ForeignNode(parent=parent, copy=None, created_at=created_at)
    said = _message(name, message, nodes, parent)
    if said is None:
        return ForeignNode(parent=parent, copy=None, created_at=created_at)
    copy = MessageCopy(
        message=said, parent=BEGINNING, place=members.place, finish_reason=_finish_reason(message, said)
    )
    return ForeignNode(parent=parent, copy=copy, created_at=created_at)


def _message(name: str, members: Members, nodes: Mapping[str, Members], parent: str | None) -> Message | None:
    """The message of a node; None for nodes outside the conversation: placeholders, empty instructions, thinking."""
    content = members.object("content")
    if "author" not in members or _kind(content) in _NOT_SAID:
        return None
    role = members.object("author").text("role") or ""
    if role not in _ROLES:
        raise members.object("author").wrong("role", f"one of {', '.join(_ROLES)}")
    text, recipient = _text(content), members.text("recipient") or "all"
    if role == "assistant" and recipient != "all":
        return Message("assistant", None, [ToolCall(name, recipient, _arguments(text))])
    if not text:
        return None
    if role == "tool":
        call_id = _call_above(parent, nodes)
        return Message("tool", text, tool_call_id=call_id, name=members.object("author").text("name"))
    return Message(_ROLES[role], text)


def _text(content: Members) -> str:
    return _TEXTS.get(_kind(content), _joined_parts)(content)


def _kind(content: Members) -> str:
    kind = content.raw("content_type")
    return kind if isinstance(kind, str) else ""


def _joined_parts(content: Members) -> str:
    if "parts" not in content:
        return content.text("text") or ""
    parts = [_part(each, content.place) for each in content.items("parts")]
    return "\n".join(part for part in parts if part)


def _part(part: object, place: str) -> str:
    if isinstance(part, str):
        return part
    members = Members(part, f"{place}, parts")
    if _kind(members) == "audio_transcription":
        return members.text("text") or ""
    kind = next((medium for medium in _MEDIA if medium in _kind(members)), "file")
    name = members.raw("asset_pointer") or members.object("audio_asset_pointer").raw("asset_pointer")
    return f"[{kind}: {name or 'without a name'!s:.200}]"


def _quote(content: Members) -> str:
    pieces = [content.text(name) for name in ("title", "url", "text")]
    return "\n".join(piece for piece in pieces if piece)


def _page(content: Members) -> str:
    return content.text("result") or content.text("summary") or ""


_TEXTS: Mapping[str, Callable[[Members], str]] = {"tether_quote": _quote, "tether_browsing_display": _page}


def _arguments(text: str) -> Mapping[str, object]:
    """The arguments of a tool call: its JSON object, else the text as the member `input`."""
    try:
        value = read_value(text.encode("utf-8", "replace"), "A call")
    except InvalidImport:
        value = None
    return value if isinstance(value, dict) else {"input": text}


def _call_above(name: str | None, nodes: Mapping[str, Members]) -> str | None:
    """The name of the nearest ancestor that is not a tool's message, if it calls a tool; else None."""
    seen: set[str] = set()
    while name is not None and name in nodes and name not in seen:
        seen.add(name)
        message = nodes[name].object("message")
        role = message.object("author").raw("role")
        if role == "assistant":
            return name if message.raw("recipient") not in (None, "all") else None
        if role == "user":
            return None
        name = nodes[name].text("parent")
    return None


def _finish_reason(members: Members, said: Message) -> str | None:
    if said.role != "assistant":
        return None
    if members.raw("status") in _UNFINISHED:
        return "incomplete"
    reason = members.object("metadata").object("finish_details").raw("type")
    return _FINISHED.get(reason, "stop") if isinstance(reason, str) else None
