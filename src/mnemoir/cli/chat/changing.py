"""Commands that change the chat: its conversation, the stored messages, and the messages that models get."""

import asyncio
from pathlib import Path

from mnemoir.cli.chat.conversation import StoredConversation, UnstoredConversation
from mnemoir.cli.chat.display import clipped
from mnemoir.cli.chat.looking import listed
from mnemoir.cli.chat.session import Chat
from mnemoir.cli.output import counted
from mnemoir.cli.transfer import output, read_file
from mnemoir.core.clock import utc_now
from mnemoir.core.errors import InvalidRequest, NotFound

_TITLE = 60  # characters
_LONGEST_ID = 256
_PIN = "Usage: /pin [id] [off], with the number that /history shows after #"
_FORMATS = {".md": "markdown", ".markdown": "markdown", ".json": "json", ".txt": "chatml"}


async def load(chat: Chat, argument: str) -> None:
    """Continue another conversation."""
    if not argument:
        raise InvalidRequest("Usage: /load <session>")
    found = await chat.server.called(argument)
    if not found:
        raise NotFound(f"No conversation begins with {argument[:80]!r}. /sessions lists them.")
    if len(found) > 1:
        chat.fail(f"{len(found)} conversations begin with {argument[:80]!r}; type more of the id.")
        now = utc_now()
        chat.display.rows([f"{listed(one, now)}  {clipped(one['id'], _LONGEST_ID)}" for one in found])
        return
    chat.conversation = StoredConversation(id=found[0]["id"])
    title = clipped(found[0]["title"] or found[0]["preview"] or "(empty)", _TITLE)
    chat.display.note(f"Loaded {title}: {counted(found[0]['message_count'], 'message')}.")


async def save(chat: Chat, argument: str) -> None:
    """Wait until the vectors and summaries of this conversation are complete."""
    done = await chat.server.flush(chat.stored_id)
    chat.display.note(f"Saved {clipped(done['id'], _LONGEST_ID)}: {counted(done['messages'], 'message')}.")


async def clear(chat: Chat, argument: str) -> None:
    """Start a new context; all messages stay stored. Without memory: clear the screen."""
    if chat.unstored is not None:
        chat.display.clear()
        return
    await chat.server.change(chat.stored_id, clear_context=True)
    chat.display.note("Cleared: the model sees only messages from here on. Nothing was deleted.")


async def forget(chat: Chat, argument: str) -> None:
    """Delete this conversation with all data derived from it, and start a new one."""
    if not await chat.input.confirm("Forget this conversation and all that was made of it?"):
        chat.display.note("Nothing was forgotten.")
        return
    if chat.unstored is not None:
        told = f"Forgot {counted(len(chat.unstored.said), 'message')}."
        chat.conversation = UnstoredConversation()
    else:
        typed = await chat.server.said(chat.stored_id)
        gone = await chat.server.delete(chat.stored_id)
        chat.conversation = StoredConversation()
        chat.input.forget(typed)
        derived = gone["memories"] + gone["node_memories"]
        told = f"Forgot {counted(gone['messages'], 'message')}; memories made of them: {derived}."
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
    skipped = f"; {counted(len(done['skipped']), 'conversation')} left out" if done["skipped"] else ""
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
