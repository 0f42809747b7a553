"""Reader of LibreChat's exports: messages with their parents, or each with its children in it."""

from collections.abc import Iterator

from mnemoir.conversations.transfer.programs.chats import INCOMPLETE, ForeignChat
from mnemoir.conversations.transfer.programs.loose import Loose
from mnemoir.conversations.transfer.programs.said import Said, add_content, add_missing_words, role_of
from mnemoir.core.conversations import Message


def read_librechat(item: Loose) -> ForeignChat:
    options = item.object("options")
    chat = ForeignChat(
        id=item.name("conversationId"),
        title=item.title("title") or options.title("title"),
        system_prompt=options.words("promptPrefix", "system"),
        created_at=item.instant("createdAt"),
        updated_at=item.instant("updatedAt"),
    )
    chat.model(options.text("model"))
    found = list(_with_children(chat, item))
    is_tree = any(parent or one.name("parentMessageId") for one, parent in found)
    before: str | None = None
    for number, (one, above) in enumerate(found):
        name = one.name("messageId", "id") or f"{number}"
        parent = (above or one.name("parentMessageId")) if is_tree else before
        is_broken = one.flag("error") or one.flag("unfinished")
        chat.add(
            name,
            parent,
            _messages_of(chat, one, is_broken=is_broken),
            created_at=one.instant("createdAt", "updatedAt"),
            finish_reason=INCOMPLETE if is_broken else None,
        )
        before = name
    return chat


def _with_children(chat: ForeignChat, item: Loose) -> Iterator[tuple[Loose, str | None]]:
    """Each message, with the name of the one that it is a child of by its place; None where it is none."""
    waiting: list[tuple[Loose, str | None]] = [(one, None) for one in reversed(list(chat.objects(item, "messages")))]
    while waiting:
        one, above = waiting.pop()
        yield one, above
        name = one.name("messageId", "id")
        waiting += [(child, name) for child in reversed(list(chat.objects(one, "children")))]


def _messages_of(chat: ForeignChat, one: Loose, *, is_broken: bool) -> list[Message]:
    role = role_of(one.raw("role"))
    if role is None and isinstance(one.raw("isCreatedByUser"), bool):
        role = "user" if one.flag("isCreatedByUser") else "assistant"
    role = role or role_of(one.raw("sender"))
    if role is None:
        chat.leave_out(one.words("text", "content"))
        return []
    if role == "assistant":
        chat.model(one.text("model"))
        if role_of(one.raw("sender")) is None:
            chat.model(one.text("sender"))
    said = Said(role, chat.left_out)
    add_content(said, one.raw("content"))
    add_missing_words(said, one.words("text"), one.words("content"))
    for file in one.objects("files") + one.objects("attachments"):
        said.file(file.name("filename", "name", "file_id"), file.words("text"))
    messages = said.messages()
    if not messages and is_broken and role == "assistant":
        return [Message("assistant", "")]
    if rating := one.object("feedback").words("rating", "text"):
        chat.custom.setdefault("ratings", []).append(rating)
    return messages
