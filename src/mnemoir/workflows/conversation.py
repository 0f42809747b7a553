"""The conversation a client sent, in the form in which nodes of a config tree read it, and times of its messages.

Clients do not send the times of messages, so each message gets a time when it is first seen, stored by the message's
hash. The time of a reply is stored under a placeholder until the client sends the reply back, possibly edited. A time
is wall clock text without a zone, so distances between times are wall clock distances too: in the night of a clock
change they are an hour off, but never below zero.

`now` is always local and aware. System messages and tool results get no time.
"""

import asyncio
import re
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from mnemoir.core.discussion_id import discussion_of, is_allowed, may_hold_tags, without_tags
from mnemoir.core.discussions import Discussion
from mnemoir.core.messages import (
    ChatRequest,
    ImagePart,
    Message,
    Part,
    PlainMessages,
    TextPart,
    roles_of,
    text_message,
)
from mnemoir.core.text import hashes
from mnemoir.ports.node_services import Timestamps
from mnemoir.workflows.config.user import UserSettings

PLACEHOLDER = "PLACEHOLDER_TIMESTAMP_HASH_0000"

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")  # English in every locale
_STAMP = re.compile(r"\(\w+, (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\)")
_LONGEST_GENERATION_PROMPT = 99  # characters
_NAMES = {"user": "User: ", "assistant": "Assistant: "}


def stamp(instant: datetime) -> str:
    """The time as text, like `(Friday, 2026-11-20 16:58:30)`."""
    return f"({_DAYS[instant.weekday()]}, {instant:%Y-%m-%d %H:%M:%S})"


def distance(earlier: datetime, later: datetime) -> str:
    """The distance as text, like `2 days, 1 hour, 5 minutes`, without parts that are zero.

    `less than a minute` if all parts are zero.
    """
    minutes = max(0, int((later - earlier).total_seconds() // 60))
    counts = {"day": minutes // 1440, "hour": minutes // 60 % 24, "minute": minutes % 60}
    parts = [f"{count} {unit}{'' if count == 1 else 's'}" for unit, count in counts.items() if count]
    return ", ".join(parts) or "less than a minute"


def time_context(known: Mapping[str, str], now: datetime) -> str:
    """The text of `{time_context_summary}` for the stored times; "" for none."""
    times = {time for key, text in known.items() if key != PLACEHOLDER and (time := _read(text))}
    if not times:
        return ""
    began, latest = (distance(time, _wall_clock(now)) for time in (min(times), max(times)))
    if len(times) == 1:
        return f"[Time Context: The conversation started {began} ago.]"
    return f"[Time Context: This conversation started {began} ago. The most recent message was sent {latest} ago.]"


def with_times(
    messages: Sequence[Message], known: Mapping[str, str], *, relative: bool, now: datetime
) -> Sequence[Message]:
    """The messages with known times in front, as copies; messages without a time are the same objects."""
    dated = _without_generation_prompt(messages)
    return [*(_with_time(message, known, relative, now) for message in dated), *messages[len(dated) :]]


def settle(times: MutableMapping[str, str], messages: Sequence[Message], now: datetime) -> None:
    """Assign a time to every message without one.

    The placeholder's time goes to the last reply. Then, from the newest message back, each message without a time
    gets that of the following message minus one second, and the newest message gets `now`.
    """
    dated = [message for message in _without_generation_prompt(messages) if _has_time(message)]
    _place_placeholder(times, dated)
    anchor = _wall_clock(now)
    for message in reversed(dated):
        found = _lookup(times, message)
        if found is None:
            times[hashes(message)[0]] = stamp(anchor)
        else:
            anchor = _read(found) or anchor
        anchor -= timedelta(seconds=1)


async def backfill(
    store: Timestamps, discussion: Discussion, messages: Sequence[Message], *, now: datetime
) -> Mapping[str, str]:
    """Assign and store missing times, once at the start of a workflow; all known times."""
    async with store.changing(discussion) as times:
        # in a thread: every message is hashed, and a conversation may be as long as a book
        await asyncio.to_thread(settle, times, messages, now)
        return dict(times)


async def mark_reply(store: Timestamps, discussion: Discussion, *, now: datetime) -> None:
    """Store the time of a reply that is about to begin, under the placeholder."""
    async with store.changing(discussion) as times:
        times[PLACEHOLDER] = stamp(now)


async def commit_reply(store: Timestamps, discussion: Discussion, reply: str, *, now: datetime) -> None:
    """Assign the placeholder's time, or else `now`, to the reply at once, as group chats need it.

    `reply` is the text in the form in which the client will send it back.
    """
    async with store.changing(discussion) as times:
        times.setdefault(PLACEHOLDER, stamp(now))
        _place_placeholder(times, [text_message("assistant", reply)])


def generation_prompt(messages: Sequence[Message]) -> str:
    """The short last message, ending with a colon, that asks for the next speaker's turn, trimmed; "" without one."""
    text = messages[-1].text.strip() if messages else ""
    return text if text.endswith(":") and len(text) <= _LONGEST_GENERATION_PROMPT else ""


def _without_generation_prompt(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages without the request for the next speaker, which gets no time.

    It comes with each request: a time stored for it would make all following messages too old.
    """
    return messages[:-1] if generation_prompt(messages) else messages


def _has_time(message: Message) -> bool:
    says_something = any(not isinstance(part, TextPart) or part.text.strip() for part in message.parts)
    return message.role in ("user", "assistant") and says_something


def _place_placeholder(times: MutableMapping[str, str], messages: Sequence[Message]) -> None:
    reply = next((message for message in reversed(messages) if message.role == "assistant"), None)
    time = times.pop(PLACEHOLDER, None)
    if time is not None and reply is not None and _lookup(times, reply) is None:
        times[hashes(reply)[0]] = time


def _lookup(times: Mapping[str, str], message: Message) -> str | None:
    return next((times[hash] for hash in hashes(message) if hash in times), None)


def _with_time(message: Message, known: Mapping[str, str], relative: bool, now: datetime) -> Message:
    found = _lookup(known, message) if _has_time(message) else None
    prefix = _distance_prefix(found, now) if relative and found is not None else found
    if prefix is None or message.text.startswith(prefix):
        return message
    return replace(message, parts=_with_prefix(f"{prefix} ", message.parts))


def _with_prefix(prefix: str, parts: Sequence[Part]) -> Sequence[Part]:
    """The parts with the prefix in front of the first text, or as a new first part without one."""
    for i, part in enumerate(parts):
        if isinstance(part, TextPart):
            return (*parts[:i], TextPart(text=prefix + part.text), *parts[i + 1 :])
    return (TextPart(text=prefix), *parts)


def _distance_prefix(text: str, now: datetime) -> str | None:
    """The distance of a stored time from now, as text; None if the text is not a time."""
    time = _read(text)
    return None if time is None else f"[Sent {distance(time, _wall_clock(now))} ago]"


def _read(text: str) -> datetime | None:
    """The wall clock time of a stamp; None for any other text."""
    match = _STAMP.fullmatch(text.strip())
    try:
        return datetime.fromisoformat(match[1]) if match else None
    except ValueError:  # the 31st of February
        return None


def _wall_clock(now: datetime) -> datetime:
    return now.replace(tzinfo=None, microsecond=0)


def conversation_of(
    chat: ChatRequest, settings: UserSettings, session: str | None = None
) -> tuple[Sequence[Message], str | None]:
    """The messages, with role names if the user's settings add them, and the id of their discussion.

    A prompt without markers is one user message, behind the system message of its request, if there is one. Tags of
    discussion ids and blank messages are removed; a message has the blank ones that stood in front of it. Without a
    tag the id is `session`, the client's id of the conversation. With an empty tag, or one that names a path, the
    conversation belongs to no discussion.
    """
    own = session if session is not None and is_allowed(session) else None
    if not settings.adds_role_names and _is_read_as_sent(chat):
        return chat.request.messages, own
    messages = _named_messages(chat, settings)
    cleaned = [without_tags(message) for message in messages]
    is_tagged = any(new is not old for new, old in zip(cleaned, messages, strict=True))
    kept, _ = _split(cleaned, messages)
    return kept, discussion_of(messages) if is_tagged else own


def with_blanks(messages: Sequence[Message], chat: ChatRequest, settings: UserSettings) -> Sequence[Message]:
    """The messages of `conversation_of` with the blank ones in their places, for a model that gets all as sent.

    What only a discussion's tag made blank stays left out, but for a question where nobody speaks.
    """
    if not settings.adds_role_names and _is_read_as_sent(chat):
        return messages
    sent = _named_messages(chat, settings)
    _, behind = _split(map(without_tags, sent), sent)
    whole = [*(one for message in messages for one in (*message.blanks, message)), *behind]
    if {"user", "assistant"}.intersection(roles_of(whole)):
        return whole
    question = blank_question(chat)
    return whole if question is None else [*whole, question]


def _is_read_as_sent(chat: ChatRequest) -> bool:
    """True for texts without tags of which none is blank, as nearly all are."""
    sent = chat.request.messages
    if not isinstance(sent, PlainMessages) or chat.unmarked_prompt is not None:
        return False
    for body in sent.bodies:  # a history may have hundreds
        text = body["content"]
        if body["role"] == "developer" or text.isspace() or may_hold_tags(text):
            return False
    return True


def blank_question(chat: ChatRequest) -> Message | None:
    """The newest message of the user, if it is blank; None for any other, and without one."""
    users = (without_tags(message) for message in reversed(_messages(chat)) if message.role == "user")
    newest = next(users, None)
    return newest if newest is not None and _is_blank(newest) else None


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
        instructions = (message for message in sent if message.role == "system")
        return [*instructions, Message(role="user", parts=(*text, *images))]
    return [replace(message, role="system") if message.role == "developer" else message for message in sent]


def _named_messages(chat: ChatRequest, settings: UserSettings) -> Sequence[Message]:
    messages = _messages(chat)
    return messages if chat.is_completion else _with_role_names(messages, settings)


def _with_role_names(messages: Sequence[Message], settings: UserSettings) -> Sequence[Message]:
    if not settings.adds_role_names:
        return messages
    messages = [_with_role_name(message) for message in messages]
    if settings.adds_missing_assistant and messages and messages[-1].role != "assistant":
        messages = [*messages, text_message("assistant", "Assistant:")]
    return messages


def _with_role_name(message: Message) -> Message:
    name = _NAMES.get(message.role)
    if name is None or message.tool_calls:
        return message
    others = [part for part in message.parts if not isinstance(part, TextPart)]
    return replace(message, parts=(TextPart(text=name + message.text), *others))


def _split(cleaned: Iterable[Message], sent: Iterable[Message]) -> tuple[list[Message], list[Message]]:
    """The messages that are not blank, each with the blank ones in front of it, and the blank ones at the end.

    `cleaned` are those of `sent` without tags. Of what a tag alone made blank, only answers count as blank ones.
    """
    kept: list[Message] = []
    blanks: list[Message] = []
    for message, original in zip(cleaned, sent, strict=True):
        if not _is_blank(message):
            kept.append(replace(message, blanks=tuple(blanks)) if blanks else message)
            blanks = []
        elif message is original or message.role == "assistant":
            blanks.append(message)
    return kept, blanks


def _is_blank(message: Message) -> bool:
    if message.tool_calls or message.role == "tool":
        return False
    return not any(not isinstance(part, TextPart) or part.text.strip() for part in message.parts)
