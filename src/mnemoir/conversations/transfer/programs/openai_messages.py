"""Reader of message lists in the form of OpenAI's API, as programs save them and people train models with."""

from collections.abc import Iterator

from mnemoir.conversations.transfer.programs.chats import ForeignChat
from mnemoir.conversations.transfer.programs.loose import Loose
from mnemoir.conversations.transfer.programs.said import (
    Said,
    add_content,
    add_missing_words,
    calls_beside,
    role_of,
    text_of_content,
)
from mnemoir.core.conversations import Message

_ITEMS = ("function_call", "function_call_output", "reasoning")  # of the Responses API, which have no role


def read_openai_messages(item: Loose) -> ForeignChat:
    about = item.object("metadata")
    chat = ForeignChat(
        id=item.name("id", "session_id", "conversation_id"),
        title=item.title("title", "name") or about.title("title"),
        created_at=item.instant("created_at", "created", "timestamp"),
        updated_at=item.instant("updated_at", "updated"),
        system_prompt=item.words("system", "system_prompt"),
    )
    chat.model(item.text("model"))
    for one in chat.objects(item, "messages"):
        messages = list(_messages_of(chat, one))
        leads = not chat.nodes and not chat.system_prompt
        if leads and messages and all(message.role == "system" for message in messages):
            chat.system_prompt = "\n".join(message.text for message in messages)
            continue
        chat.add_in_a_row(messages, created_at=one.instant("created_at", "created", "timestamp"))
    return chat


def _messages_of(chat: ForeignChat, one: Loose) -> Iterator[Message]:
    role = role_of(one.raw("role"))
    if role is None and one.text("type") in _ITEMS:
        said = Said("assistant", chat.left_out)
        add_content(said, [{name: one.raw(name) for name in one}])
        yield from said.messages()
        return
    if role is None:
        chat.leave_out(one.words("content", "text"))
        return
    said = Said(role, chat.left_out, name=None if role == "tool" else one.name("name"))
    said.think(one.words("reasoning_content") or one.words("reasoning") or one.words("thinking"))
    if role == "tool":
        said.result(one.name("tool_call_id"), text_of_content(one.raw("content")), one.name("name"))
    else:
        add_content(said, one.raw("content"))
        add_missing_words(said, one.object("audio").words("transcript"), one.words("content"))
        said.text(one.words("refusal"))
        beside = [one.object("function_call")] if one.object("function_call") else []
        calls_beside(said, [*one.objects("tool_calls"), *beside])
    yield from said.messages()
