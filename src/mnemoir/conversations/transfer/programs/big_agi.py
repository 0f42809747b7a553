"""Reader of Big-AGI's exports: lists of messages whose fragments are texts, documents, pictures and calls."""

from mnemoir.conversations.transfer.programs.chats import INCOMPLETE, ForeignChat, told_flags
from mnemoir.conversations.transfer.programs.loose import Loose
from mnemoir.conversations.transfer.programs.said import Said, role_of
from mnemoir.core.conversations import Message


def read_big_agi(item: Loose) -> ForeignChat:
    chat = ForeignChat(
        id=item.name("id"),
        title=item.title("userTitle", "autoTitle"),
        created_at=item.instant("created"),
        updated_at=item.instant("updated"),
    )
    chat.custom |= told_flags(item, "isArchived")
    if folder := item.title("folder"):
        chat.custom["folder"] = folder
    if purpose := item.text("systemPurposeId"):
        chat.custom["persona"] = purpose
    for one in chat.objects(item, "messages"):
        role = role_of(one.raw("role")) or role_of(one.raw("sender"))
        if role is None:
            chat.leave_out(one.words("fragments", "text"))
            continue
        generator = one.object("generator")
        if role == "assistant":
            chat.model(generator.text("name") or one.text("originLLM"))
        said = Said(role, chat.left_out)
        has_error = _add_fragments(said, one)
        messages = said.messages()
        if role == "system" and not chat.nodes and not chat.system_prompt:
            chat.system_prompt = "\n".join(message.text for message in messages)
            continue
        if has_error and not messages:
            messages = [Message(role, "")]
        chat.add_in_a_row(
            messages, created_at=one.instant("created"), finish_reason=INCOMPLETE if has_error else None
        )
    return chat


def _add_fragments(said: Said, message: Loose) -> bool:
    """Whether one of them tells of an error."""
    has_error = False
    for value in message.values("fragments"):
        if isinstance(value, str):
            said.text(value)
            continue
        fragment = Loose(value)
        part = fragment.object("part") or fragment
        kind = part.text("pt")
        match kind:
            case "text" | "":
                said.text(part.words("text"))
            case "error":
                has_error = True
                said.text(part.words("error"))
            case "ma":
                said.think(part.words("aText"))
            case "doc":
                name = (
                    fragment.name("title", "caption") or part.object("meta").name("srcFileName") or part.name("ref")
                )
                said.file(name, part.object("data").words("text") or part.words("data"))
            case "tool_invocation":
                call = part.object("invocation")
                said.call(part.name("id"), call.name("name", "type"), call.raw("args") or call.raw("code"))
            case "tool_response":
                result = part.object("response")
                said.result(part.name("id"), result.words("result"), result.name("name"))
            case "image_ref" | "reference":
                said.picture(part.object("dataRef").text("url"), fragment.text("title") or part.text("altText"))
            case "ph" | "_pt_sentinel":  # an answer that had not come
                has_error = True
            case _:
                said.leave_out(kind, part.words("text", "data"))
    said.text(message.words("text"))
    return has_error
