"""The conversation a client sent, in the form in which nodes of a config tree read it."""

from collections.abc import Sequence
from dataclasses import replace

from mnemoir.core.discussion_id import discussion_of, is_allowed, without_tags
from mnemoir.core.messages import ChatRequest, ImagePart, Message, TextPart, text_message
from mnemoir.workflows.config.user import UserSettings
from mnemoir.workflows.timestamps import generation_prompt

_NAMES = {"user": "User: ", "assistant": "Assistant: "}


def conversation_of(
    chat: ChatRequest, settings: UserSettings, session: str | None = None
) -> tuple[list[Message], str | None]:
    """The messages, with role names if the user's settings add them, and the id of their discussion.

    A prompt without markers is one user message. Tags of discussion ids and blank messages are removed. Without a tag
    the id is `session`, the client's id of the conversation. With an empty tag, or one that names a path, the
    conversation belongs to no discussion.
    """
    messages = _messages(chat)
    tagged = discussion_of(messages)
    if not chat.is_completion:
        messages = _with_role_names(messages, settings)
    cleaned = [without_tags(message) for message in messages]
    is_tagged = any(new is not old for new, old in zip(cleaned, messages, strict=True))
    own = session if session is not None and is_allowed(session) else None
    return [message for message in cleaned if not _is_blank(message)], tagged if is_tagged else own


def as_sent_back(reply: str, chat: ChatRequest, settings: UserSettings) -> str:
    """An answer in the form it will have when the client sends it back in the conversation."""
    if chat.is_completion:
        return reply.strip()
    return _NAMES["assistant"] + reply if settings.adds_role_names else reply


def asked_speaker(chat: ChatRequest) -> str:
    """The name and colon at the conversation's end by which a client asks for a speaker's turn; "" for none."""
    said = [message for message in map(without_tags, chat.request.messages[-2:]) if not _is_blank(message)]
    return generation_prompt(said)


def _messages(chat: ChatRequest) -> Sequence[Message]:
    sent = chat.request.messages
    if chat.unmarked_prompt is not None:
        images = [part for message in sent for part in message.parts if isinstance(part, ImagePart)]
        text = (TextPart(text=chat.unmarked_prompt),) if chat.unmarked_prompt else ()
        return [Message(role="user", parts=(*text, *images))]
    return [replace(message, role="system") if message.role == "developer" else message for message in sent]


def _with_role_names(messages: Sequence[Message], settings: UserSettings) -> Sequence[Message]:
    if settings.adds_role_names:
        messages = [_named(message) for message in messages]
    if settings.adds_missing_assistant and messages and messages[-1].role != "assistant":
        # without role names the added turn is blank, and blank messages are removed
        messages = [*messages, text_message("assistant", "Assistant:" if settings.adds_role_names else "")]
    return messages


def _named(message: Message) -> Message:
    name = _NAMES.get(message.role)
    if name is None or message.tool_calls:
        return message
    others = [part for part in message.parts if not isinstance(part, TextPart)]
    return replace(message, parts=(TextPart(text=name + message.text), *others))


def _is_blank(message: Message) -> bool:
    if message.tool_calls or message.role == "tool":
        return False
    return not any(not isinstance(part, TextPart) or part.text.strip() for part in message.parts)
