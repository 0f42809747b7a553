"""Reader of DeepSeek's exports: a tree of nodes whose messages are fragments."""

from mnemoir.conversations.transfer.programs.chats import ForeignChat
from mnemoir.conversations.transfer.programs.loose import Loose
from mnemoir.conversations.transfer.programs.said import Said, add_content, role_of
from mnemoir.core.conversations import Message, Role

_THINKING = ("THINK", "THINKING", "REASONING")
_WORDS = ("REQUEST", "RESPONSE", "TEMPLATE_RESPONSE")


def read_deepseek(item: Loose) -> ForeignChat:
    chat = ForeignChat(
        id=item.name("id"),
        title=item.title("title"),
        created_at=item.instant("inserted_at", "created_at"),
        updated_at=item.instant("updated_at"),
    )
    for name, node in item.named_objects("mapping"):
        message = node.object("message")
        chat.model(message.text("model"))
        chat.add(
            name,
            node.name("parent"),
            _messages_of(chat, message),
            created_at=message.instant("inserted_at", "created_at"),
            children=[one for one in node.values("children") if isinstance(one, str)],
        )
    return chat


def _messages_of(chat: ForeignChat, message: Loose) -> list[Message]:
    fragments = message.objects("fragments")
    role = _role(message, fragments)
    if role is None:
        chat.leave_out(message.words("fragments", "content"))
        return []
    said = Said(role, chat.left_out)
    for value in message.values("fragments"):
        one = Loose(value)
        kind = one.text("type").upper()
        if isinstance(value, str):
            said.text(value)
        elif kind in _THINKING:
            said.think(one.words("content"))
        elif kind in _WORDS or not kind:
            said.text(one.words("content"))
        else:
            said.leave_out(kind.lower(), one.words("content", "results", "queries"))
    said.think(message.words("reasoning_content", "thinking_content"))
    add_content(said, message.raw("content"))
    for file in message.objects("files"):
        said.file(file.name("file_name", "name", "id"), file.words("content"))
    return said.messages()


def _role(message: Loose, fragments: list[Loose]) -> Role | None:
    if (role := role_of(message.raw("role"))) is not None:
        return role
    kinds = {one.text("type").upper() for one in fragments}
    if "REQUEST" in kinds:
        return "user"
    return "assistant" if kinds - {""} else None
