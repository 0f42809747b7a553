"""Reader of Claude's exports: a list of messages, or a tree of them where parents are named."""

import re

from mnemoir.conversations.transfer.programs.chats import ForeignChat
from mnemoir.conversations.transfer.programs.loose import Loose
from mnemoir.conversations.transfer.programs.said import Said, add_content, add_missing_words, role_of
from mnemoir.core.conversations import Message

# what stands in `text` in place of blocks that an old program could not show
_NOT_SHOWN = re.compile(r"```\s*This block is not supported on your current device yet\.\s*```")


def read_claude(item: Loose) -> ForeignChat:
    chat = ForeignChat(
        id=item.name("uuid", "id"),
        title=item.title("name", "title"),
        created_at=item.instant("created_at"),
        updated_at=item.instant("updated_at"),
        head=item.name("current_leaf_message_uuid"),
    )
    if summary := item.words("summary"):
        chat.custom["summary"] = summary
    chat.model(item.text("model"))
    messages = list(chat.objects(item, "chat_messages"))
    is_tree = any(one.name("parent_message_uuid") for one in messages)
    before: str | None = None
    for number, one in enumerate(messages):
        name = one.name("uuid", "id") or f"{number}"
        parent = one.name("parent_message_uuid") if is_tree else before
        chat.add(
            name,
            parent,
            _messages_of(chat, one),
            created_at=one.instant("created_at"),
            finish_reason="length" if one.text("stop_reason") == "max_tokens" else None,
        )
        before = name
    return chat


def _messages_of(chat: ForeignChat, one: Loose) -> list[Message]:
    role = role_of(one.raw("sender")) or role_of(one.raw("role"))
    if role is None:
        chat.leave_out(one.words("text", "content", "attachments"))
        return []
    said = Said(role, chat.left_out)
    add_content(said, one.raw("content"))
    add_missing_words(said, _NOT_SHOWN.sub("", one.words("text")).strip(), one.words("content"))
    named = set()
    for file in one.objects("attachments"):
        name = file.name("file_name", "name", "id")
        named.add(name)
        said.file(name, file.words("extracted_content"))
    for file in one.objects("files") + one.objects("files_v2"):
        name = file.name("file_name", "name", "file_uuid")
        if name not in named:
            named.add(name)
            said.file(name)
    return said.messages()
