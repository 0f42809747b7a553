"""Reader of ChatGPT's exports: each conversation is a tree of nodes, some of which are hidden.

A tool call is a message whose recipient is not "all". Pictures are taken from the archive that they came in; where
they are not in it, and for recordings, their names stand in the text. Marks of citations become links.
"""

import base64
import re
from collections.abc import Callable, Mapping
from typing import Any

from mnemoir.conversations.transfer.bounded_json import read_value
from mnemoir.conversations.transfer.copies import InvalidImport
from mnemoir.conversations.transfer.programs.chats import ForeignChat, told_flags
from mnemoir.conversations.transfer.programs.loose import Loose, words_in
from mnemoir.conversations.transfer.programs.said import Said, role_of
from mnemoir.core.conversations import MediaPart, Message, Role, TextPart

_THINKING = frozenset({"thoughts", "reasoning_recap"})
_INSTRUCTIONS = frozenset({"user_editable_context", "model_editable_context", "app_pairing_content"})
_FINISHED = {"max_tokens": "length", "interrupted": "incomplete"}
_MEDIA = ("image", "audio", "video")
_UNFINISHED = ("in_progress", "finished_partial_completion")
_MARK = re.compile("\ue200(.*?)\ue201", re.DOTALL)
_STRAY = re.compile("[\ue200-\ue20f]")
_PIECES = "\ue202"
_ID = re.compile(r"file[-_][\w-]{3,100}", re.ASCII)

Files = Callable[[str], bytes | None]  # the bytes of the file of an archive whose name begins with an id
MediaTypes = Mapping[str, str]


def no_files(_: str) -> bytes | None:
    """The files of an export that is no archive."""
    return None


def reader_with(files: Files) -> Callable[[Loose], ForeignChat]:
    """The reader of conversations whose pictures are among these files."""
    return lambda item: _Reader(item, files).chat()


class _Reader:
    """One conversation."""

    def __init__(self, item: Loose, files: Files) -> None:
        self._item = item
        self._files = files
        self._nodes = dict(item.named_objects("mapping"))
        self._going_on = _with_results_behind(self._nodes)

    def chat(self) -> ForeignChat:
        item = self._item
        chat = ForeignChat(
            id=item.name("conversation_id", "id"),
            title=item.title("title"),
            head=item.name("current_node"),
            created_at=item.instant("create_time"),
            updated_at=item.instant("update_time"),
        )
        chat.custom |= told_flags(item, "is_archived", "is_starred")
        chat.model(item.text("default_model_slug"))
        if folder := item.name("gizmo_id"):
            chat.custom["folder"] = folder
        for name, node in self._nodes.items():
            message = node.object("message")
            said = self._messages_of(chat, name, message, node.name("parent"))
            chat.add(
                name,
                node.name("parent"),
                said,
                created_at=message.instant("create_time"),
                finish_reason=_finish_reason(message),
                children=[one for one in node.values("children") if isinstance(one, str)],
            )
        return chat

    def _messages_of(self, chat: ForeignChat, name: str, message: Loose, parent: str | None) -> list[Message]:
        """The messages of a node; [] for nodes outside the conversation: placeholders, instructions, thinking."""
        content, about = message.object("content"), message.object("metadata")
        kind = content.text("content_type")
        if about.flag("is_visually_hidden_from_conversation") or kind in _INSTRUCTIONS:
            chat.left_out.note("instructions", _without_kind(content))
            return []
        if kind in _THINKING:
            chat.left_out.note("thinking", _without_kind(content))
            return []
        author = message.object("author")
        role = role_of(author.raw("role"))
        if role is None:
            chat.leave_out(_without_kind(content))
            return []
        if role == "assistant":
            chat.model(about.text("model_slug"))
            recipient = message.text("recipient") or "all"
            if recipient != "all":
                said = Said(role, chat.left_out)
                said.call(name, recipient, self._text(content, None))
                return said.messages()
        said = Said(role, chat.left_out)
        text = _without_marks(self._text(content, said), about)
        shown = self._name_attachments(said, message)
        if role == "tool":
            if not text and not shown and not said.messages() and name in self._going_on:
                return []
            return [self._result(said, text, _call_above(parent, self._nodes), author.name("name"))]
        said.text("\n".join(filter(None, [text, *shown])))
        return said.messages()

    def _result(self, said: Said, text: str, call_id: str | None, name: str | None) -> Message:
        """The message of a tool, with the pictures that it made."""
        pictures = [one.content for one in said.messages() if isinstance(one.content, list)]
        files = [part for content in pictures for part in content if isinstance(part, MediaPart)]
        content: Any = [*files, *([TextPart(text)] if text else [])] if files else text
        return Message("tool", content, tool_call_id=call_id, name=name)

    def _text(self, content: Loose, said: Said | None) -> str:
        kind = content.text("content_type")
        if kind == "tether_quote":
            return "\n".join(filter(None, (content.words(name) for name in ("title", "url", "text"))))
        if kind == "tether_browsing_display":
            return content.words("result") or content.words("summary")
        parts = content.raw("parts")
        if not isinstance(parts, list):
            rest = words_in(parts) or content.words("text") or content.words("content", "result", "output")
            shot = content.object("screenshot")
            return "\n".join(filter(None, [rest, self._part(shot, said) if shot else "", content.words("state")]))
        return "\n".join(filter(None, (self._part(each, said) for each in [*parts, content.raw("text")])))

    def _part(self, part: object, said: Said | None) -> str:
        """The text of a part; "" for a picture that was found, which is added."""
        members = part if isinstance(part, Loose) else Loose(part)
        kind = members.text("content_type")
        if not members or not kind:
            return words_in(part) if not isinstance(part, Loose) else ""
        if kind == "audio_transcription":
            return members.words("text")
        medium = next((medium for medium in _MEDIA if medium in kind), "file")
        pointer = members.name("asset_pointer") or members.object("audio_asset_pointer").name("asset_pointer") or ""
        if medium == "image" and said is not None and (data := self._bytes(pointer)) is not None:
            encoded = base64.b64encode(data).decode("ascii")
            said.picture(f"data:{_type_of(data)};base64,{encoded}", self._name_of(pointer))
            return ""
        return f"[{medium}: {(pointer or 'without a name')[:200]}]"

    def _bytes(self, pointer: str) -> bytes | None:
        id = pointer.rpartition("/")[2]
        return self._files(id) if _ID.fullmatch(id) else None

    def _name_of(self, pointer: str) -> str:
        """The name of the file with that pointer, among the attachments of all messages; "" for none."""
        for node in self._nodes.values():
            for each in node.object("message").object("metadata").objects("attachments"):
                if (id := each.name("id")) and id in pointer:
                    return each.text("name")
        return ""

    def _name_attachments(self, said: Said, message: Loose) -> list[str]:
        """The names of the files that came with a message, without the pictures that stand in it."""
        content = message.object("content").raw("parts")
        pointers = words_in([part for part in content if isinstance(part, dict)] if isinstance(content, list) else "")
        attachments = message.object("metadata").objects("attachments")
        return [
            f"[file: {(one.name('name', 'id') or 'without a name')[:200]}]"
            for one in attachments
            if not ((id := one.name("id")) and id in pointers)
        ]


def _without_kind(content: Loose) -> list[object]:
    names = ("parts", "text", "thoughts", "content", "user_profile", "user_instructions", "model_set_context")
    return [content.raw(name) for name in names]


def _without_marks(text: str, about: Loose) -> str:
    """The text with links in place of the marks of citations, as far as their addresses are known."""
    if "\ue200" not in text:
        return _STRAY.sub("", text)
    references = {one.text("matched_text"): one for one in about.objects("content_references")}

    def link_for(found: re.Match[str]) -> str:
        reference = references.get(found[0], Loose(None))
        if shown := reference.text("alt"):
            return shown
        links = [*reference.objects("items"), reference]
        told = [(one.text("title") or one.text("url"), one.text("url")) for one in links if one.text("url")]
        return " ".join(f"([{title}]({url}))" for title, url in told) or _name_in(found[1])

    return _STRAY.sub("", _MARK.sub(link_for, text))


def _name_in(inside: str) -> str:
    """The words in a mark that stands for a thing with a name: `entity`, `url`; "" for a citation."""
    kind, *pieces = inside.split(_PIECES)
    if kind == "url":
        return " ".join(pieces)
    if kind != "entity" or not pieces:
        return ""
    try:
        value = read_value(pieces[0].encode("utf-8", "replace"), "A name")
    except InvalidImport:
        return pieces[0]
    return str(value[1]) if isinstance(value, list) and len(value) > 1 else words_in(value)


def _call_above(name: str | None, nodes: Mapping[str, Loose]) -> str | None:
    """The name of the nearest ancestor that is not a tool's message, if it calls a tool; else None."""
    seen: set[str] = set()
    while name is not None and name in nodes and name not in seen:
        seen.add(name)
        message = nodes[name].object("message")
        role: Role | None = role_of(message.object("author").raw("role"))
        if role == "assistant" and message.object("content").text("content_type") not in _THINKING:
            return name if message.text("recipient") not in ("", "all") else None
        if role == "user":
            return None
        name = nodes[name].name("parent")
    return None


def _with_results_behind(nodes: Mapping[str, Loose]) -> set[str | None]:
    """The messages that only results of tools follow: a call has one result, and an empty one before it is none."""
    are_tools: dict[str | None, bool] = {}
    for one in nodes.values():
        is_tool = one.object("message").object("author").text("role") == "tool"
        are_tools[one.name("parent")] = is_tool and are_tools.get(one.name("parent"), True)
    return {name for name, is_all in are_tools.items() if is_all}


def _finish_reason(message: Loose) -> str | None:
    if role_of(message.object("author").raw("role")) != "assistant":
        return None
    if message.text("status") in _UNFINISHED:
        return "incomplete"
    reason = message.object("metadata").object("finish_details").text("type")
    return _FINISHED.get(reason, "stop") if reason else None


def _type_of(data: bytes) -> str:
    """The type of a picture by its first bytes."""
    kinds = ((b"\xff\xd8", "jpeg"), (b"GIF8", "gif"), (b"RIFF", "webp"))
    return f"image/{next((kind for begins, kind in kinds if data.startswith(begins)), 'png')}"
