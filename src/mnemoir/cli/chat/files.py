"""Commands that export a conversation to a file and import conversations from one."""

import asyncio
from pathlib import Path

from mnemoir.cli.chat.session import Chat
from mnemoir.cli.output import counted
from mnemoir.cli.transfer import output
from mnemoir.cli.whole_file import read_file
from mnemoir.core.errors import InvalidRequest

_FORMATS = {".md": "markdown", ".markdown": "markdown", ".json": "json", ".txt": "chatml"}


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
