"""Reader of Jan's threads: lines of messages; the title is in a file beside them."""

from mnemoir.conversations.transfer.programs.chats import INCOMPLETE, ForeignChat
from mnemoir.conversations.transfer.programs.loose import Loose
from mnemoir.conversations.transfer.programs.said import Said, add_content, role_of, text_of_content
from mnemoir.core.conversations import Message


def read_jan(thread: Loose) -> ForeignChat:
    """The chat of a thread: the members of its `thread.json`, as far as it is known, with its `messages`."""
    about = thread.object("thread")
    assistant = next(iter(about.objects("assistants")), Loose(None))
    chat = ForeignChat(
        id=about.name("id"),
        title=about.title("title"),
        system_prompt=assistant.words("instructions"),
        created_at=about.instant("created", "created_at"),
        updated_at=about.instant("updated", "updated_at"),
    )
    chat.model(assistant.object("model").text("id"))
    for one in chat.objects(thread, "messages"):
        chat.id = chat.id or one.name("thread_id")
        is_broken = one.text("status") in ("error", "stopped", "pending")
        messages = _messages_of(chat, one)
        chat.add_in_a_row(
            messages, created_at=one.instant("created_at"), finish_reason=INCOMPLETE if is_broken else None
        )
    return chat


def _messages_of(chat: ForeignChat, one: Loose) -> list[Message]:
    role = role_of(one.raw("role"))
    if role is None:
        chat.leave_out(one.words("content"))
        return []
    said = Said(role, chat.left_out)
    add_content(said, one.raw("content"))
    for each in one.object("metadata").objects("tool_calls"):
        tool = each.object("tool") or each
        function = tool.object("function")
        id = said.call(tool.name("id"), function.name("name"), function.raw("arguments"))
        response = each.object("response")
        if response:
            said.result(
                id, text_of_content(response.raw("content")) or response.words("error"), function.name("name")
            )
    for file in one.objects("attachments"):
        said.file(file.name("name", "file_id"))
    return said.messages()
