"""Recognition of a file's program by its shape, and the choice of its reader."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO, Any, BinaryIO, cast
from zipfile import ZipFile, ZipInfo

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
_EMPTY = "The file is an empty list: there is no conversation in it. Export the chats again."
_NO_CONVERSATIONS = (
    "The archive has no conversations.json in it, but {}. Unpack it, and import its files of chats one by one; of "
    "ChatGPT, Claude and DeepSeek import the archive as it was downloaded."
)
_MOST_NAMED, _LONGEST_NAME = 3, 60
_MIXED = "The archive holds conversations of {} ({}) and of {} ({}). Unpack it, and import these files one by one."
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
            if (first := _first_object(file)) is None:
                raise InvalidImport(_EMPTY)
            return _by_members(first)
        case b"{":
            return _by_object(file)
    raise InvalidImport(_UNKNOWN)


def _format_in(archive: ZipFile) -> str:
    """The format of the conversations in an archive. Raises InvalidImport where they are of several programs."""
    if any(PurePosixPath(entry.filename).name == JAN_MESSAGES for entry in archive_entries(archive)):
        return "jan"
    found = conversation_entries(archive)
    if not found:
        raise InvalidImport(_NO_CONVERSATIONS.format(_names_in(archive)))
    first: tuple[str, str] | None = None
    for entry in found:
        try:
            told = _first_in(archive, entry)
            program = None if told is None else _by_members(told)
        except InvalidImport:
            if first is None:
                raise
            continue  # its reader names it
        if first is not None and program not in (None, first[0]):
            raise InvalidImport(_MIXED.format(*first, program, entry.filename[-_LONGEST_NAME:]))
        if program is not None:
            first = first or (program, entry.filename[-_LONGEST_NAME:])
    return "open-webui" if first is None else first[0]  # whose empty lists say nothing


def _first_in(archive: ZipFile, entry: ZipInfo) -> Any:
    """The first conversation in a file of an archive; None for an empty list."""
    with archive.open(entry) as inner:
        if first_byte(inner) == b"[":
            return _first_object(inner)
        return read_conversation(inner.read(MOST_BYTES + 1).removeprefix(MARK), entry.filename)


def _names_in(archive: ZipFile) -> str:
    """The first files of an archive, by name, for a sentence."""
    names = [entry.filename[:_LONGEST_NAME] for entry in archive_entries(archive)]
    if not names:
        return "nothing"
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


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
    if (kind := memory_program(told)) is not None:
        raise WrongKind(_MEMORIES.format(_MEMORY_NAMES[kind]))
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
    "letta": lambda told: "core_memory" in told or ("blocks" in told and "agents" in told),
    "mcp": lambda told: (
        told.text("type") in ("entity", "relation") or all(name in told for name in ("entities", "relations"))
    ),
    "claude": lambda told: "conversations_memory" in told,
    "open-webui": lambda told: all(
        (name in told) == is_there
        for name, is_there in {"content": True, "user_id": True, "role": False, "memory": False}.items()
    ),
    "mem0": lambda told: "memory" in told or isinstance(told.raw("results"), list),
}
_MEMORY_NAMES: Mapping[str, str] = {
    "letta": "Letta",
    "mcp": "the MCP server memory",
    "claude": "Claude",
    "open-webui": "Open WebUI",
    "mem0": "mem0",
}


def memory_program(told: Loose) -> str | None:
    """The program whose memory this is, or a page of them, by its members; None for none."""
    return next((name for name, has in _MEMORY_SHAPES.items() if has(told)), None)


def _first_object(file: IO[bytes]) -> Any:
    """The first object of a list; None for an empty list, and a conversation without messages for one without any.

    A list whose objects are messages is one conversation.
    """
    has_any = False
    try:
        for raw in array_items(file, ITEM):
            has_any = True
            value = read_conversation(raw, f"{ITEM} 1")
            if isinstance(value, list):
                return {"messages": value}
            if isinstance(value, dict):
                return value
    finally:
        file.seek(0)
    return {"chat": {}} if has_any else None


def _read_json(file: BinaryIO) -> Iterator[Item]:
    value = read_value(file.read(MOST_BYTES + 1).removeprefix(MARK), "The file")
    if not is_header(value):
        raise InvalidImport("The file is not a session of Mnemoir.")
    yield read_object(value, "The file")


_OWN_READERS: Mapping[str, Reader] = {"jsonl": read_lines, "json": _read_json, "harombe": read_harombe}
_READERS: Mapping[str, Reader] = {**_OWN_READERS, **{name: program.read for name, program in _PROGRAMS.items()}}
