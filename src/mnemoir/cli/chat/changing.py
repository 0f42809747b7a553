"""Commands of a chat that list, search, change, export and import conversations, messages and memories."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from mnemoir.cli.chat.conversation import StoredConversation, UnstoredConversation
from mnemoir.cli.chat.display import clipped_line
from mnemoir.cli.chat.session import Chat
from mnemoir.cli.conversation_routes import text_of, tool_names
from mnemoir.cli.output import LESS_LIKELY, count_with_noun, likely_and_others
from mnemoir.cli.transfer import output, read_file
from mnemoir.core.clock import from_text, utc_now
from mnemoir.core.errors import InvalidRequest, NotFound

_LISTED_TITLE = 40  # characters
_TEXT = 200
_SHORT_ID = 8
_MOST_MEMORIES = 100
_MOST = 1000
_CLEARED = "--- the context was cleared here ---"
_TITLE = 60  # characters
_LONGEST_ID = 256
_PIN = "Usage: /pin [id] [off], with the number that /history shows after #"
_FORMATS = {".md": "markdown", ".markdown": "markdown", ".json": "json", ".txt": "chatml"}


async def sessions(chat: Chat, argument: str) -> None:
    """List conversations, newest activity first."""
    found = await chat.server.newest(_count(argument, 10, "/sessions [n]"))
    if not found:
        chat.display.note("There are no conversations yet.")
        return
    now = utc_now()
    chat.display.rows([conversation_line(one, now, is_current=one["id"] == chat.conversation.id) for one in found])


async def history(chat: Chat, argument: str) -> None:
    """Show the last messages of this conversation."""
    count = _count(argument, 20, "/history [n]")
    rows = (
        await _stored_rows(chat, count)
        if chat.unstored_conversation is None
        else _unstored_rows(chat.unstored_conversation, count)
    )
    chat.display.rows(rows) if rows else chat.display.note("This conversation has no messages yet.")


async def search(chat: Chat, argument: str) -> None:
    """Search messages of all conversations; show the best first."""
    if not argument:
        raise InvalidRequest("Usage: /search <words>")
    found = await chat.server.search(argument)
    if not found:
        chat.display.note("Nothing was found.")
        return
    likely, others = ([_hit_line(hit) for hit in part] for part in likely_and_others(found))
    chat.display.rows([*likely, *([LESS_LIKELY, *others] if others else [])])


async def memories(chat: Chat, argument: str) -> None:
    """List the memories of the user."""
    found = await chat.server.memories(_MOST_MEMORIES)
    if not found:
        chat.display.note("Nothing is remembered yet.")
        return
    chat.display.rows(
        [f"{str(one.get('created_at') or '')[:10]}  {clipped_line(one['memory'], _MOST)}" for one in found]
    )


def conversation_line(conversation: Mapping[str, Any], now: datetime, *, is_current: bool = False) -> str:
    """One line about a conversation."""
    title = clipped_line(conversation["title"] or conversation["preview"] or "(empty)", _LISTED_TITLE)
    messages = count_with_noun(conversation["message_count"], "message")
    when = ago(from_text(conversation["updated_at"]) or now, now)
    begin = f"{'*' if is_current else ' '} {short(conversation['id']):<{_SHORT_ID}}"
    return f"{begin}  {title:<{_LISTED_TITLE}}  {messages:>12}  {when}"


def short(id: str) -> str:
    """The id, shortened for lists."""
    return clipped_line(id[:_SHORT_ID], _SHORT_ID)


def ago(then: datetime, now: datetime) -> str:
    """The time since `then` in its largest unit, such as "2 days ago"; a date from 30 days on."""
    passed = now - then
    if passed >= timedelta(days=30):
        return then.date().isoformat()
    steps = ((timedelta(days=1), "day"), (timedelta(hours=1), "hour"), (timedelta(minutes=1), "minute"))
    for step, name in steps:
        if passed >= step:
            return f"{count_with_noun(passed // step, name)} ago"
    return "just now"


async def _stored_rows(chat: Chat, count: int) -> list[str]:
    conversation = await chat.server.conversation(chat.stored_id)
    messages = await chat.server.last_messages(chat.stored_id, count)
    cleared = conversation["context_after"] or 0
    before = [_row(message) for message in messages if message["id"] <= cleared]
    after = [_row(message) for message in messages if message["id"] > cleared]
    return [*before, *([_CLEARED] if before else []), *after]


def _unstored_rows(conversation: UnstoredConversation, count: int) -> list[str]:
    return [f"{one['role']:<9}  {clipped_line(one['content'], _TEXT)}" for one in conversation.said[-count:]]


def _row(message: Mapping[str, Any]) -> str:
    """One line about a message: number, time, role, text; `!` marks a pinned message."""
    when = str(message["created_at"] or "")[:16].replace("T", " ")
    calls = [f"[calls {clipped_line(name, _LISTED_TITLE)}]" for name in tool_names(message)]
    ending = ["[incomplete]"] if message["finish_reason"] == "incomplete" else []
    text = " ".join([clipped_line(text_of(message["content"]), _TEXT), *calls, *ending]).strip()
    pinned = "!" if message["pinned"] else " "
    return f"{pinned}#{message['id']:<5} {when:<16}  {message['role']:<9}  {text}"


def _hit_line(hit: Mapping[str, Any]) -> str:
    return f"{short(hit['conversation_id']):<{_SHORT_ID}}  {_row(hit['message'])}"


def _count(argument: str, default: int, usage: str) -> int:
    """The number of rows asked for. Raises InvalidRequest for anything else."""
    if not argument:
        return default
    if not (argument.isascii() and argument.isdigit() and 0 < int(argument[:9]) <= _MOST):
        raise InvalidRequest(f"Usage: {usage}, with n from 1 to {_MOST}")
    return int(argument)


async def load(chat: Chat, argument: str) -> None:
    """Continue another conversation."""
    if not argument:
        raise InvalidRequest("Usage: /load <session>")
    found = await chat.server.find_conversations(argument)
    if not found:
        raise NotFound(f"No conversation begins with {argument[:80]!r}. /sessions lists them.")
    if len(found) > 1:
        chat.fail(f"{len(found)} conversations begin with {argument[:80]!r}; type more of the id.")
        now = utc_now()
        chat.display.rows([f"{conversation_line(one, now)}  {clipped_line(one['id'], _LONGEST_ID)}" for one in found])
        return
    chat.conversation = replace(_stored_conversation(chat), id=found[0]["id"])
    title = clipped_line(found[0]["title"] or found[0]["preview"] or "(empty)", _TITLE)
    chat.display.note(f"Loaded {title}: {count_with_noun(found[0]['message_count'], 'message')}.")


def _stored_conversation(chat: Chat) -> StoredConversation:
    """The stored conversation of the chat, for what holds of the next one too."""
    return chat.conversation if isinstance(chat.conversation, StoredConversation) else StoredConversation()


async def save(chat: Chat, argument: str) -> None:
    """Wait until the vectors and summaries of this conversation are complete."""
    done = await chat.server.flush(chat.stored_id)
    chat.display.note(
        f"Saved {clipped_line(done['id'], _LONGEST_ID)}: {count_with_noun(done['messages'], 'message')}."
    )


async def clear(chat: Chat, argument: str) -> None:
    """Start a new context; all messages stay stored. Without memory: clear the screen."""
    if chat.unstored_conversation is not None:
        chat.display.clear()
        return
    await chat.server.change(chat.stored_id, clear_context=True)
    chat.display.note("Cleared: the model sees only messages from here on. Nothing was deleted.")


async def forget(chat: Chat, argument: str) -> None:
    """Delete this conversation with all data derived from it, and start a new one."""
    if not await chat.input.confirm("Forget this conversation and all that was made of it?"):
        chat.display.note("Nothing was forgotten.")
        return
    if chat.unstored_conversation is not None:
        told = f"Forgot {count_with_noun(len(chat.unstored_conversation.said), 'message')}."
        chat.conversation = UnstoredConversation()
    else:
        typed = await chat.server.user_texts(chat.stored_id)
        gone = await chat.server.delete(chat.stored_id)
        chat.conversation = replace(_stored_conversation(chat), id=StoredConversation().id)
        chat.input.forget(typed)
        derived = gone["memories"] + gone["node_memories"]
        told = f"Forgot {count_with_noun(gone['messages'], 'message')}; memories made of them: {derived}."
    chat.display.note(f"{told} A new conversation begins.")


async def pin(chat: Chat, argument: str) -> None:
    """Pin a message, so that every window contains it; with `off` unpin it. Without an id: the last message."""
    words = argument.lower().split()
    is_pinned = words[-1:] != ["off"]
    ids = words if is_pinned else words[:-1]
    if len(ids) > 1 or not all(id.isascii() and id.isdigit() and len(id) < 19 for id in ids):
        raise InvalidRequest(_PIN)
    number = int(ids[0]) if ids else await _last(chat)
    await chat.server.change(chat.stored_id, f"messages/{number}", pinned=is_pinned)
    chat.display.note(f"Message {number} is {'in every window from now on' if is_pinned else 'pinned no longer'}.")


async def _last(chat: Chat) -> int:
    messages = await chat.server.last_messages(chat.stored_id, 1)
    if not messages:
        raise NotFound("This conversation has no messages yet.")
    return int(messages[-1]["id"])


async def export(chat: Chat, argument: str) -> None:
    """Write this conversation to a file, in the format of the file's suffix; JSON lines for an unknown suffix."""
    file = _file(argument) if argument else _usual_name(chat.stored_id)
    if await asyncio.to_thread(file.exists) and not await chat.input.confirm(f"{file} is there already. Replace it?"):
        chat.display.note("Nothing was written.")
        return
    format = _FORMATS.get(file.suffix.lower(), "jsonl")
    data = b"".join([piece async for piece in chat.server.export(chat.stored_id, format)])
    await asyncio.to_thread(_write, file, data)
    chat.display.note(f"Exported the conversation to {file} ({format}, {len(data)} bytes).")


async def take_in(chat: Chat, argument: str) -> None:
    """Import the conversations of a file; existing ones stay unchanged."""
    if not argument:
        raise InvalidRequest("Usage: /import <file>")
    done = await chat.server.take_in(await asyncio.to_thread(read_file, _file(argument)))
    skipped = f"; {count_with_noun(len(done['skipped']), 'conversation')} left out" if done["skipped"] else ""
    chat.display.note(f"{done['message']}{skipped}.")


def _file(argument: str) -> Path:
    """The path that was typed, with or without quotes."""
    is_quoted = len(argument) > 1 and argument[0] == argument[-1] and argument[0] in "'\""
    return Path(argument[1:-1] if is_quoted else argument).expanduser()


def _usual_name(id: str) -> Path:
    plain = "".join(c if c.isalnum() or c in "-_" else "_" for c in id[:8])
    return Path(f"conversation-{plain}.jsonl")


def _write(file: Path, data: bytes) -> None:
    with output(file) as write:
        write(data)
