"""Reader of Open WebUI's exports: a tree of messages by id, or in older versions without branches a list."""

from collections.abc import Iterator, Mapping
from typing import BinaryIO, get_args

from mnemoir.conversations.transfer.copies import BEGINNING, MessageCopy, SessionCopy
from mnemoir.conversations.transfer.foreign_trees import ForeignNode, in_order
from mnemoir.conversations.transfer.members import Members, conversations_in, session_id_of
from mnemoir.core.conversations import Content, MediaPart, Message, Part, Role, SessionMetadata, TextPart

_ROLES: Mapping[str, Role] = {role: role for role in get_args(Role)}
_SHOWN = ("data:image/", "http://", "https://")  # addresses a model can use; others are internal to that program


def read_open_webui(file: BinaryIO) -> Iterator[SessionCopy]:
    """The chats of the file. Reading them raises InvalidImport that names the conversation."""
    for item, raw in conversations_in(file):
        chat = item.object("chat") if "chat" in item else item
        yield SessionCopy(
            messages=_messages(chat, item.place),
            place=item.place,
            id=session_id_of(item.text("id") or chat.text("id"), raw),
            system_prompt=_system_prompt(chat),
            metadata=_metadata(item, chat),
            created_at=item.instant("created_at") or chat.instant("timestamp"),
            updated_at=item.instant("updated_at"),
        )


def _messages(chat: Members, place: str) -> Iterator[MessageCopy]:
    history = chat.object("history")
    if "messages" in history:
        nodes = {name: _node(each, each.text("parentId")) for name, each in history.objects("messages").items()}
        return in_order(nodes, history.text("currentId") or None, place)
    listed = [Members(each, f"{place}, message {at}") for at, each in enumerate(chat.items("messages"), start=1)]
    in_a_row = {str(at): _node(each, str(at - 1) if at else None) for at, each in enumerate(listed)}
    return in_order(in_a_row, None, place)


def _node(members: Members, parent: str | None) -> ForeignNode:
    name = members.text("role") or ""
    if name not in _ROLES:
        raise members.wrong("role", f"one of {', '.join(_ROLES)}")
    is_whole = "done" not in members or members.truth("done")
    copy = MessageCopy(
        message=Message(_ROLES[name], _content(members)),
        parent=BEGINNING,
        place=members.place,
        finish_reason=None if is_whole else "incomplete",
    )
    return ForeignNode(parent=parent or None, copy=copy, created_at=members.instant("timestamp"))


def _content(members: Members) -> Content:
    """The content: pictures first, the text last; other files are named in the text."""
    texts: list[str] = []
    pictures: list[Part] = []
    if isinstance(members.raw("content"), list):
        for each in members.items("content"):
            _add_part(Members(each, f"{members.place}, content"), texts, pictures)
    else:
        texts.append(members.text("content") or "")
    for each in members.items("files"):
        _add_file(Members(each, f"{members.place}, files"), texts, pictures)
    text = "\n".join(text for text in texts if text)
    if not pictures:
        return text
    return [*pictures, TextPart(text)] if text else pictures


def _add_part(part: Members, texts: list[str], pictures: list[Part]) -> None:
    if part.raw("type") == "image_url":
        _add_picture(part.object("image_url").text("url") or "", texts, pictures)
    else:
        texts.append(part.text("text") or "")


def _add_file(file: Members, texts: list[str], pictures: list[Part]) -> None:
    if file.raw("type") == "image":
        _add_picture(file.text("url") or "", texts, pictures)
    else:
        texts.append(f"[file: {file.raw('name') or file.raw('id') or 'without a name'!s:.200}]")


def _add_picture(url: str, texts: list[str], pictures: list[Part]) -> None:
    if url.startswith(_SHOWN):
        pictures.append(MediaPart(type="image", url=url))
    else:
        texts.append(f"[image: {url:.200}]")


def _system_prompt(chat: Members) -> str:
    return chat.object("params").text("system") or chat.text("system") or ""


def _metadata(item: Members, chat: Members) -> SessionMetadata:
    tags = item.object("meta").items("tags") or chat.items("tags")
    names = [tag.get("name") if isinstance(tag, dict) else tag for tag in tags]
    return SessionMetadata(
        title=item.text("title") or chat.text("title"),
        tags=[name for name in names if isinstance(name, str)],
        custom={"imported_from": "open-webui"},
    )
