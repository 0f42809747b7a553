"""When messages were said: times worked out for messages that have none, and shown to the model in front of them.

A client does not tell when its messages were written, so a time is given to each message when it is first seen and
kept by the message's hash. The time of a reply is kept under a placeholder until the client sends the reply back,
perhaps edited. A time is wall clock text without a zone, so distances between times are wall clock distances too:
over the night the clocks change they are an hour off, and never below zero.

`now` is local and aware wherever it is asked for. Messages of the system and results of tools get no time.
"""

import asyncio
import re
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from mnemoir.core.message_hash import hashes
from mnemoir.core.messages import Message, Part, TextPart, text_message
from mnemoir.ports.timestamps import Timestamps

PLACEHOLDER = "PLACEHOLDER_TIMESTAMP_HASH_0000"

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")  # English in every locale
_STAMP = re.compile(r"\(\w+, (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\)")
_LONGEST_GENERATION_PROMPT = 99  # characters


def stamp(instant: datetime) -> str:
    """`(Friday, 2026-11-20 16:58:30)`."""
    return f"({_DAYS[instant.weekday()]}, {instant:%Y-%m-%d %H:%M:%S})"


def distance(earlier: datetime, later: datetime) -> str:
    """`2 days, 1 hour, 5 minutes`; parts that are zero are left out, and all of them are `less than a minute`."""
    minutes = max(0, int((later - earlier).total_seconds() // 60))
    counts = {"day": minutes // 1440, "hour": minutes // 60 % 24, "minute": minutes % 60}
    parts = [f"{count} {unit}{'' if count == 1 else 's'}" for unit, count in counts.items() if count]
    return ", ".join(parts) or "less than a minute"


def time_context(known: Mapping[str, str], now: datetime) -> str:
    """What `{time_context_summary}` says of the stored times; "" for none."""
    times = {time for key, text in known.items() if key != PLACEHOLDER and (time := _read(text))}
    if not times:
        return ""
    began, latest = (distance(time, _wall_clock(now)) for time in (min(times), max(times)))
    if len(times) == 1:
        return f"[Time Context: The conversation started {began} ago.]"
    return f"[Time Context: This conversation started {began} ago. The most recent message was sent {latest} ago.]"


def stamped(
    messages: Sequence[Message], known: Mapping[str, str], *, relative: bool, now: datetime
) -> Sequence[Message]:
    """Copies with the time in front, where it is known; the others are the same objects."""
    dated = _without_generation_prompt(messages)
    return [*(_stamped(message, known, relative, now) for message in dated), *messages[len(dated) :]]


def settle(times: MutableMapping[str, str], messages: Sequence[Message], now: datetime) -> None:
    """Give a time to every message that has none.

    The placeholder's goes to the last reply. Then, from the newest message back, each one without a time was said a
    second before the one behind it, and the newest of all now.
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
    store: Timestamps, root: Path, discussion: str, messages: Sequence[Message], *, now: datetime
) -> Mapping[str, str]:
    """Settle the stored times, once at the start of a workflow; all that are known then."""
    async with store.changing(root, discussion) as times:
        # in a thread: every message is hashed, and a conversation may be as long as a book
        await asyncio.to_thread(settle, times, messages, now)
        return dict(times)


async def mark_reply(store: Timestamps, root: Path, discussion: str, *, now: datetime) -> None:
    """Keep the time of a reply that is about to be written, under the placeholder."""
    async with store.changing(root, discussion) as times:
        times[PLACEHOLDER] = stamp(now)


async def commit_reply(store: Timestamps, root: Path, discussion: str, reply: str, *, now: datetime) -> None:
    """Give the placeholder's time, or else `now`, to the reply right away, as group chats want it.

    `reply` is the text as the conversation will hold it when the client sends it back.
    """
    async with store.changing(root, discussion) as times:
        times.setdefault(PLACEHOLDER, stamp(now))
        _place_placeholder(times, [text_message("assistant", reply)])


def generation_prompt(messages: Sequence[Message]) -> str:
    """The short last message with a colon at its end that asks for the next speaker's turn, trimmed; else ""."""
    text = messages[-1].text.strip() if messages else ""
    return text if text.endswith(":") and len(text) <= _LONGEST_GENERATION_PROMPT else ""


def _without_generation_prompt(messages: Sequence[Message]) -> Sequence[Message]:
    """It is sent anew with each request: a time kept for it would date back all messages that follow."""
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


def _stamped(message: Message, known: Mapping[str, str], relative: bool, now: datetime) -> Message:
    found = _lookup(known, message) if _has_time(message) else None
    prefix = _sent(found, now) if relative and found is not None else found
    if prefix is None or message.text.startswith(prefix):
        return message
    return replace(message, parts=_with_prefix(f"{prefix} ", message.parts))


def _with_prefix(prefix: str, parts: Sequence[Part]) -> Sequence[Part]:
    """In front of the first text; before pictures that have none."""
    for i, part in enumerate(parts):
        if isinstance(part, TextPart):
            return (*parts[:i], TextPart(text=prefix + part.text), *parts[i + 1 :])
    return (TextPart(text=prefix), *parts)


def _sent(text: str, now: datetime) -> str | None:
    """None for a text that is no time."""
    time = _read(text)
    return None if time is None else f"[Sent {distance(time, _wall_clock(now))} ago]"


def _read(text: str) -> datetime | None:
    """The wall clock time of a stamp; None for another text."""
    match = _STAMP.fullmatch(text.strip())
    try:
        return datetime.fromisoformat(match[1]) if match else None
    except ValueError:  # the 31st of February
        return None


def _wall_clock(now: datetime) -> datetime:
    return now.replace(tzinfo=None, microsecond=0)
