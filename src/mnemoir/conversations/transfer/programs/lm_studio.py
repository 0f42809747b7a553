"""Reader of LM Studio's conversations: a row of messages, of each the versions that were made."""

from mnemoir.conversations.transfer.programs.chats import ForeignChat, told_flags
from mnemoir.conversations.transfer.programs.loose import Loose
from mnemoir.conversations.transfer.programs.said import Said, add_content, role_of
from mnemoir.core.conversations import Message

_OF_STEPS = ("type", "stepIdentifier", "genInfo")  # the members of a step that hold no words


def read_lm_studio(item: Loose) -> ForeignChat:
    chat = ForeignChat(
        id=item.name("id", "identifier"),
        title=item.title("name"),
        system_prompt=item.words("systemPrompt"),
        created_at=item.instant("createdAt"),
        updated_at=item.instant("assistantLastMessagedAt", "userLastMessagedAt"),
    )
    chat.custom |= told_flags(item, "pinned")
    if notes := item.words("notes"):
        chat.custom["notes"] = notes
    chat.model(item.object("lastUsedModel").text("identifier", "indexedModelIdentifier"))
    above: str | None = None
    for number, message in enumerate(chat.objects(item, "messages")):
        versions = message.objects("versions") or [message]
        chosen = message.number("currentlySelected") or 0
        names = [f"{number}.{at}" for at in range(len(versions))]
        for name, version in zip(names, versions, strict=True):
            chat.add(name, above, _messages_of(chat, version), created_at=version.instant("createdAt"))
        above = names[chosen] if 0 <= chosen < len(names) else names[-1]
    chat.head = above
    return chat


def _messages_of(chat: ForeignChat, version: Loose) -> list[Message]:
    role = role_of(version.raw("role"))
    if role is None:
        chat.leave_out(version.words("content", "steps"))
        return []
    chat.model(version.object("senderInfo").text("senderName"))
    said = Said(role, chat.left_out)
    add_content(said, version.raw("content"))
    for value in version.values("steps"):
        step = Loose(value)
        if isinstance(value, str):
            said.text(value)
            continue
        chat.model(step.object("genInfo").text("identifier", "indexedModelIdentifier"))
        if step.text("type") == "contentBlock" or not step.text("type"):
            _add_block(said, step)
        else:
            _leave_out_notice(said, step)
    return said.messages()


def _leave_out_notice(said: Said, step: Loose) -> None:
    """Count what the program itself notes, if there are words in it."""
    told = step.words(*(name for name in step if name not in _OF_STEPS))
    if any(map(str.isalnum, told)):
        said.leave_out("notices", told)


def _add_block(said: Said, block: Loose) -> None:
    if block.object("style").text("type") == "thinking":
        said.think(block.words("content"))
        return
    for value in block.values("content") or [block.raw("content")]:
        part = Loose(value)
        match part.text("type"):
            case "toolCallRequest":
                id = part.name("toolCallRequestId", "callId")
                said.call(id, part.name("name"), part.raw("parameters"))
            case "toolCallResult":
                said.result(part.name("toolCallRequestId", "toolCallId", "callId"), part.words("content"))
            case _:
                add_content(said, [value] if value is not None else None)
