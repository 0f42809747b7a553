"""Recognition of a file's program by its shape, and the choice of its reader."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO, Any, BinaryIO, cast
from zipfile import ZipFile

from mnemoir.conversations.transfer.bounded_json import MARK, MOST_BYTES, array_items, first_byte, read_value
from mnemoir.conversations.transfer.branched_json import read_conversation
from mnemoir.conversations.transfer.copies import ImportTooLarge, InvalidImport, WrongKind
from mnemoir.conversations.transfer.files import archive_entries, is_archive, opened_archive
from mnemoir.conversations.transfer.harombe import MAGIC, read_harombe
from mnemoir.conversations.transfer.own_reading import is_header, read_lines, read_object
from mnemoir.conversations.transfer.programs.chats import ITEM
from mnemoir.conversations.transfer.programs.claude import read_claude
from mnemoir.conversations.transfer.programs.deepseek import read_deepseek
from mnemoir.conversations.transfer.programs.forms import (
    JAN_MESSAGES,
    Item,
    Reader,
    chats_of,
    conversation_entries,
    first_line,
    is_message,
    next_line,
    read_big_agi_file,
    read_chatgpt_file,
    read_jan_file,
    read_openai_file,
    read_sillytavern_file,
)
from mnemoir.conversations.transfer.programs.librechat import read_librechat
from mnemoir.conversations.transfer.programs.lm_studio import read_lm_studio
from mnemoir.conversations.transfer.programs.loose import Loose
from mnemoir.conversations.transfer.programs.open_webui import read_open_webui
from mnemoir.core.conversations import ImportFormat

_UNKNOWN = (
    "The file cannot be imported. It is not an export of Mnemoir, ChatGPT, Claude, DeepSeek, Open WebUI, LibreChat, "
    "Big-AGI, LM Studio, Jan or SillyTavern, nor a list of messages as OpenAI has them, nor the database of harombe. "
    "A list of memories in plain text is brought in by `mnemoir import FILE --as memories`."
)
_NOT_READ = "The file is of {}, whose chats are not read. Export them as a list of messages with role and content."
_MEMORIES = (
    "The file holds memories ({}), no conversations. Import it with `mnemoir import`, or send it to POST /api/import."
)


def reader_of(file: BinaryIO, format: ImportFormat) -> Reader:
    """The reader of the file. Raises InvalidImport for a file of no known program and for an unknown format."""
    return _READERS[format_of(file, format)]


def format_of(file: BinaryIO, format: ImportFormat) -> ImportFormat:
    """The format of the file, which its shape tells where it is `auto`. Raises InvalidImport."""
    file.seek(0)
    if format == "auto":
        return cast("ImportFormat", _format_of(file))
    if format not in _READERS:
        names = ", ".join(["auto", *_READERS])
        raise InvalidImport(f"There is no format {format!r:.40}; there are {names}.", field="format")
    return format


def _format_of(file: BinaryIO) -> str:
    begins_with_magic = file.read(len(MAGIC)) == MAGIC
    file.seek(0)
    if begins_with_magic:
        return "harombe"
    if is_archive(file):
        with opened_archive(file) as archive:
            return _format_in(archive)
    match first_byte(file):
        case b"[":
            return _by_members(_first_object(file))
        case b"{":
            return _by_object(file)
    raise InvalidImport(_UNKNOWN)


def _format_in(archive: ZipFile) -> str:
    """The format of the first conversations in an archive."""
    if any(PurePosixPath(entry.filename).name == JAN_MESSAGES for entry in archive_entries(archive)):
        return "jan"
    found = conversation_entries(archive)
    if not found:
        raise InvalidImport("The archive has no conversations.json in it. Import the export as it was downloaded.")
    with archive.open(found[0]) as inner:
        if first_byte(inner) == b"[":
            return _by_members(_first_object(inner))
        return _by_members(read_conversation(inner.read(MOST_BYTES + 1).removeprefix(MARK), found[0].filename))


def _by_object(file: BinaryIO) -> str:
    """The format of a file that begins with an object: JSON lines, or one object over many lines."""
    try:
        line = first_line(file)
        has_more = bool(next_line(file))
        value = read_conversation(line, "The first line" if has_more else "The file")
    except ImportTooLarge:
        raise
    except InvalidImport:
        file.seek(0)
        value, has_more = read_conversation(file.read(MOST_BYTES + 1).removeprefix(MARK), "The file"), False
    finally:
        file.seek(0)
    if is_header(value):
        return "json" if "messages" in value else "jsonl"
    return _by_members(value, is_line=has_more)


def _by_members(value: Any, *, is_line: bool = False) -> str:
    """The format of another program, by the members of its first conversation or line. Raises InvalidImport."""
    told = Loose(value)
    if (kind := next((kind for kind, has in _MEMORY_SHAPES.items() if has(told)), None)) is not None:
        raise WrongKind(_MEMORIES.format(kind))
    found = chat_program(told)
    if found is None and (is_line or "role" in told) and is_message(told):
        found = "openai"
    if found is None:
        program = next((name for name, has in _UNREAD_SHAPES.items() if has(told)), None)
        raise InvalidImport(_UNKNOWN if program is None else _NOT_READ.format(program))
    return found


def chat_program(told: Loose) -> str | None:
    """The program whose conversation this is, by its members; None for none."""
    return next((name for name, program in _PROGRAMS.items() if program.has(told)), None)


def _is_deepseek(told: Loose) -> bool:
    """Whether messages have fragments, or a role of their own: those of ChatGPT have it of their author."""
    messages = [node.object("message") for _, node in told.named_objects("mapping")]
    return any("fragments" in one or (one.text("role") and "author" not in one) for one in messages)


def _of_messages(*names: str) -> Callable[[Loose], bool]:
    """Whether a message of the list has one of these members."""
    return lambda told: any(name in one for one in told.objects("messages")[:50] for name in names)


def _is_big_agi(told: Loose) -> bool:
    if "systemPurposeId" in told or _of_messages("fragments")(told):
        return True
    conversations = told.objects("conversations")
    return bool(conversations) and "messages" in conversations[0]


@dataclass(frozen=True, slots=True)
class Program:
    """A program whose chats are read: by what a conversation of it is told, and the reader of its files."""

    has: Callable[[Loose], bool]
    read: Reader


# The first whose shape holds reads the file; a shape further down may hold for what stands above it.
_PROGRAMS: Mapping[str, Program] = {
    "deepseek": Program(lambda told: "mapping" in told and _is_deepseek(told), chats_of("deepseek", read_deepseek)),
    "chatgpt": Program(lambda told: "mapping" in told, read_chatgpt_file),
    "claude": Program(lambda told: "chat_messages" in told, chats_of("claude", read_claude)),
    "jan": Program(lambda told: told.text("object") == "thread.message", read_jan_file),
    "sillytavern": Program(
        lambda told: any(name in told for name in ("chat_metadata", "character_name", "mes")), read_sillytavern_file
    ),
    "lm-studio": Program(_of_messages("versions"), chats_of("lm-studio", read_lm_studio)),
    "librechat": Program(
        lambda told: _of_messages("messageId", "isCreatedByUser")(told) or "conversationId" in told,
        chats_of("librechat", read_librechat),
    ),
    "big-agi": Program(_is_big_agi, read_big_agi_file),
    "open-webui": Program(lambda told: "chat" in told or "history" in told, chats_of("open-webui", read_open_webui)),
    "openai": Program(lambda told: isinstance(told.raw("messages"), list), read_openai_file),
}
_UNREAD_SHAPES: Mapping[str, Callable[[Loose], bool]] = {
    "Google's activity (Gemini)": lambda told: ("header" in told and "titleUrl" in told) or told.text("header") != "",
    "Grok": lambda told: "responses" in told or any("responses" in one for one in told.objects("conversations")),
    "Copilot": lambda told: "Conversation" in told and "Message" in told,
    "Character.AI": lambda told: "histories" in told or "turns" in told,
    "Poe": lambda told: "messagesConnection" in told,
}
_MEMORY_SHAPES: Mapping[str, Callable[[Loose], bool]] = {
    "mem0": lambda told: "memory" in told or any("memory" in one for one in told.objects("results")),
    "the MCP server memory": lambda told: told.text("type") in ("entity", "relation"),
    "Claude": lambda told: "conversations_memory" in told,
    "Letta": lambda told: "blocks" in told and "agents" in told,
    "Open WebUI": lambda told: "content" in told and "user_id" in told and "role" not in told,
}


def _first_object(file: IO[bytes]) -> Any:
    """The first object of a list; for an empty list a conversation without messages.

    A list whose objects are messages is one conversation.
    """
    try:
        for raw in array_items(file, ITEM):
            value = read_conversation(raw, f"{ITEM} 1")
            if isinstance(value, list):
                return {"messages": value}
            if isinstance(value, dict):
                return value
    finally:
        file.seek(0)
    return {"chat": {}}


def _read_json(file: BinaryIO) -> Iterator[Item]:
    value = read_value(file.read(MOST_BYTES + 1).removeprefix(MARK), "The file")
    if not is_header(value):
        raise InvalidImport("The file is not a session of Mnemoir.")
    yield read_object(value, "The file")


_OWN_READERS: Mapping[str, Reader] = {"jsonl": read_lines, "json": _read_json, "harombe": read_harombe}
_READERS: Mapping[str, Reader] = {**_OWN_READERS, **{name: program.read for name, program in _PROGRAMS.items()}}
