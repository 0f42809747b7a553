"""Recognition of a file's program by its shape, and the choice of its reader."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import IO, Any, BinaryIO
from zipfile import ZipFile, ZipInfo

from mnemoir.conversations.transfer.bounded_json import MARK, MOST_BYTES, array_items, first_byte, read_value
from mnemoir.conversations.transfer.copies import (
    ImportTooLarge,
    InvalidImport,
    SessionCopy,
    SkippedSession,
    WrongKind,
)
from mnemoir.conversations.transfer.files import archive_entries, is_archive, opened_archive
from mnemoir.conversations.transfer.harombe import MAGIC, read_harombe
from mnemoir.conversations.transfer.own_reading import is_header, read_lines, read_object
from mnemoir.conversations.transfer.programs.big_agi import read_big_agi
from mnemoir.conversations.transfer.programs.chatgpt import Files, no_files, reader_with
from mnemoir.conversations.transfer.programs.chats import ITEM, ForeignChat, chat_in, read_chats
from mnemoir.conversations.transfer.programs.claude import read_claude
from mnemoir.conversations.transfer.programs.deepseek import read_deepseek
from mnemoir.conversations.transfer.programs.jan import read_jan
from mnemoir.conversations.transfer.programs.librechat import read_librechat
from mnemoir.conversations.transfer.programs.lm_studio import read_lm_studio
from mnemoir.conversations.transfer.programs.loose import Loose
from mnemoir.conversations.transfer.programs.open_webui import read_open_webui
from mnemoir.conversations.transfer.programs.openai_messages import read_openai_messages
from mnemoir.conversations.transfer.programs.sillytavern import read_sillytavern
from mnemoir.core.conversations import ImportFormat

Item = SessionCopy | SkippedSession
Reader = Callable[[BinaryIO], Iterator[Item]]
Line = tuple[bytes, Any]  # a line of a file, and its value
ReadChat = Callable[[Loose], ForeignChat]

_JAN_MESSAGES = "messages.jsonl"
_CONVERSATIONS = re.compile(r"conversations(?:-\d{1,6})?\.json")
_MOST_PICTURE_BYTES = 20 * 2**20
_CLAUDE_OTHERS = {
    "projects.json": "Projects are not read; their documents and instructions stay in the file.",
    "users.json": "Accounts are not read.",
    "memories.json": "It holds memories, no conversations. Import it by itself, with `mnemoir import`.",
}
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
    file.seek(0)
    if format == "auto":
        return _READERS[format_of(file)]
    if format not in _READERS:
        raise InvalidImport(
            f"There is no format {format!r:.40}; there are auto, {', '.join(_READERS)}.", field="format"
        )
    return _READERS[format]


def format_of(file: BinaryIO) -> str:
    """The name of the format. Raises InvalidImport for a file of no known program."""
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
    if any(PurePosixPath(entry.filename).name == _JAN_MESSAGES for entry in archive_entries(archive)):
        return "jan"
    found = _conversation_entries(archive)
    if not found:
        raise InvalidImport("The archive has no conversations.json in it. Import the export as it was downloaded.")
    with archive.open(found[0]) as inner:
        if first_byte(inner) == b"[":
            return _by_members(_first_object(inner))
        return _by_members(read_value(inner.read(MOST_BYTES + 1).removeprefix(MARK), found[0].filename))


def _by_object(file: BinaryIO) -> str:
    """The format of a file that begins with an object: JSON lines, or one object over many lines."""
    try:
        value = read_value(_first_line(file), "The first line")
        has_more = bool(_line(file))
    except ImportTooLarge:
        raise
    except InvalidImport:
        file.seek(0)
        value, has_more = read_value(file.read(MOST_BYTES + 1).removeprefix(MARK), "The file"), False
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
    if found is None and (is_line or "role" in told) and _is_message(told):
        found = "openai"
    if found is None:
        program = next((name for name, has in _UNREAD_SHAPES.items() if has(told)), None)
        raise InvalidImport(_UNKNOWN if program is None else _NOT_READ.format(program))
    return found


def chat_program(told: Loose) -> str | None:
    """The program whose conversation this is, by its members; None for none."""
    return next((program for program, has in _SHAPES.items() if has(told)), None)


def _is_message(told: Loose) -> bool:
    return isinstance(told.raw("role"), str) and ("content" in told or "tool_calls" in told)


def _has_fragments(told: Loose) -> bool:
    return any("fragments" in node.object("message") for _, node in told.named_objects("mapping"))


def _of_messages(*names: str) -> Callable[[Loose], bool]:
    """Whether a message of the list has one of these members."""
    return lambda told: any(name in one for one in told.objects("messages")[:50] for name in names)


def _is_open_webui(told: Loose) -> bool:
    return "chat" in told or "history" in told


_SHAPES: Mapping[str, Callable[[Loose], bool]] = {
    "deepseek": lambda told: "mapping" in told and _has_fragments(told),
    "chatgpt": lambda told: "mapping" in told,
    "claude": lambda told: "chat_messages" in told,
    "jan": lambda told: told.text("object") == "thread.message",
    "sillytavern": lambda told: any(name in told for name in ("chat_metadata", "character_name", "mes")),
    "lm-studio": _of_messages("versions"),
    "librechat": lambda told: _of_messages("messageId", "isCreatedByUser")(told) or "conversationId" in told,
    "big-agi": lambda told: "systemPurposeId" in told or _of_messages("fragments")(told) or bool(
        told.objects("conversations") and "messages" in told.objects("conversations")[0]
    ),
    "open-webui": _is_open_webui,
    "openai": lambda told: isinstance(told.raw("messages"), list),
}  # fmt: skip
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
            value = read_value(raw, f"{ITEM} 1")
            if isinstance(value, list):
                return {"messages": value}
            if isinstance(value, dict):
                return value
    finally:
        file.seek(0)
    return {"chat": {}}


def _first_line(file: IO[bytes]) -> bytes:
    """The first line that is not blank; b"" for none."""
    return _line(file).removeprefix(MARK).strip()


def _line(file: IO[bytes]) -> bytes:
    while line := file.readline(MOST_BYTES + 1):
        if line.removeprefix(MARK).strip():
            return line
    return b""


def _objects_of_lines(file: IO[bytes]) -> Iterator[Line]:
    """Each line with its value; its text for a line that is no JSON."""
    number = 0
    while line := _line(file):
        number += 1
        raw = line.removeprefix(MARK).strip()
        try:
            yield raw, read_value(raw, f"Line {number}")
        except ImportTooLarge:
            raise
        except InvalidImport:
            yield raw, raw.decode("utf-8", "replace")  # whose words are left out, and counted


def _is_of_lines(file: IO[bytes]) -> bool:
    """Whether the file has an object on its first line and more behind it. One object may stand over many lines."""
    try:
        _, first = next(_objects_of_lines(file), (b"", None))
        return isinstance(first, dict) and bool(_line(file))
    finally:
        file.seek(0)


def _read_json(file: BinaryIO) -> Iterator[Item]:
    value = read_value(file.read(MOST_BYTES + 1).removeprefix(MARK), "The file")
    if not is_header(value):
        raise InvalidImport("The file is not a session of Mnemoir.")
    yield read_object(value, "The file")


def _chats_of(program: str, read: ReadChat) -> Reader:
    """The reader of a program whose chats are JSON objects: in a list, alone, in lines, or in an archive."""

    def read_file(file: BinaryIO) -> Iterator[Item]:
        if not is_archive(file):
            yield from _read_objects(file, program, read)
            return
        with opened_archive(file) as archive:
            for entry in _conversation_entries(archive):
                with archive.open(entry) as inner:
                    yield from _read_objects(inner, program, read)
            yield from _unread_entries(archive)

    return read_file


def _read_objects(file: IO[bytes], program: str, read: ReadChat) -> Iterator[Item]:
    """The chats of a list, of an object with a list of them, of one, or of lines with one each."""
    if first_byte(file) == b"[" or not _is_of_lines(file):
        yield from read_chats(file, program, read)
        return
    for number, (raw, value) in enumerate(_objects_of_lines(file), start=1):
        yield chat_in(value, raw, f"Line {number}", program, read)


def _read_chatgpt(file: BinaryIO) -> Iterator[Item]:
    if not is_archive(file):
        yield from _read_objects(file, "chatgpt", reader_with(no_files))
        return
    with opened_archive(file) as archive:
        read = reader_with(_files_of(archive))
        for entry in _conversation_entries(archive):
            with archive.open(entry) as inner:
                yield from read_chats(inner, "chatgpt", read)


def _files_of(archive: ZipFile) -> Files:
    """Finds files of an archive by the ids with which their names begin."""
    entries = {PurePosixPath(entry.filename).name: entry for entry in archive_entries(archive)}

    def find(id: str) -> bytes | None:
        found = next((entry for name, entry in entries.items() if name.startswith(id)), None)
        if found is None or found.file_size > _MOST_PICTURE_BYTES:
            return None
        return archive.read(found)

    return find


def _read_big_agi(file: BinaryIO) -> Iterator[Item]:
    """One conversation, or all of them within an object."""
    value = Loose(read_value(file.read(MOST_BYTES + 1).removeprefix(MARK), "The file"))
    conversations = value.values("conversations")
    if not conversations:
        file.seek(0)
        yield from _read_objects(file, "big-agi", read_big_agi)
        return
    for number, one in enumerate(conversations, start=1):
        yield chat_in(one, repr(one).encode(), f"{ITEM} {number}", "big-agi", read_big_agi)


def _read_openai(file: BinaryIO) -> Iterator[Item]:
    """Lists of messages: objects that have one, lists, lines of such objects, or lines or a list of messages."""
    if first_byte(file) == b"[":
        items = [(raw, _value(raw)) for raw in array_items(file, ITEM)]
    elif _is_of_lines(file):
        items = list(_objects_of_lines(file))
    else:
        whole = file.read(MOST_BYTES + 1).removeprefix(MARK)
        items = [(whole, read_value(whole, "The file"))]
    if any(_is_message(Loose(value)) for _, value in items):
        told = {"messages": [value for _, value in items]}
        yield chat_in(told, _bytes_of(items), f"{ITEM} 1", "openai", read_openai_messages)
        return
    for number, (raw, value) in enumerate(items, start=1):
        yield chat_in(value, raw, f"{ITEM} {number}", "openai", read_openai_messages)


def _value(raw: bytes) -> Any:
    try:
        return read_value(raw, ITEM)
    except InvalidImport:
        return None


def _read_sillytavern(file: BinaryIO) -> Iterator[Item]:
    lines = list(_objects_of_lines(file))
    values = [value for _, value in lines]
    header = values[0] if values and not {"mes", "swipes"} & set(Loose(values[0])) else None
    told = {"header": header, "messages": values if header is None else values[1:]}
    yield chat_in(told, _bytes_of(lines), f"{ITEM} 1", "sillytavern", read_sillytavern)


def _read_jan(file: BinaryIO) -> Iterator[Item]:
    """A file of messages, or the archive of Jan's folder with one for each thread."""
    if not is_archive(file):
        yield from _threads(_objects_of_lines(file))
        return
    with opened_archive(file) as archive:
        entries = {entry.filename: entry for entry in archive_entries(archive)}
        for name, entry in sorted(entries.items()):
            path = PurePosixPath(name)
            if path.name != _JAN_MESSAGES:
                continue
            beside = entries.get(str(path.with_name("thread.json")))
            thread = None if beside is None else _value(archive.read(beside))
            with archive.open(entry) as inner:
                lines = list(_objects_of_lines(inner))
            told = {"thread": thread, "messages": [value for _, value in lines]}
            yield chat_in(told, _bytes_of(lines), name, "jan", read_jan)


def _threads(lines: Iterator[Line]) -> Iterator[Item]:
    """The chats of lines, which tell their threads."""
    threads: dict[str, list[Line]] = {}
    last = ""
    for line in lines:
        last = Loose(line[1]).name("thread_id") or last
        threads.setdefault(last, []).append(line)
    for number, found in enumerate(threads.values(), start=1):
        told = {"messages": [value for _, value in found]}
        yield chat_in(told, _bytes_of(found), f"{ITEM} {number}", "jan", read_jan)


def _bytes_of(lines: Sequence[Line]) -> bytes:
    return b"\n".join(raw for raw, _ in lines)


def _conversation_entries(archive: ZipFile) -> Sequence[ZipInfo]:
    """The files with conversations in an archive, by name."""
    entries = archive_entries(archive)
    found = [entry for entry in entries if _CONVERSATIONS.fullmatch(PurePosixPath(entry.filename).name)]
    return sorted(found, key=lambda entry: entry.filename)


def _unread_entries(archive: ZipFile) -> Iterator[SkippedSession]:
    """The other files of Claude's archive that hold something."""
    for entry in archive_entries(archive):
        name = PurePosixPath(entry.filename).name
        if name in _CLAUDE_OTHERS and _value(archive.read(entry)) not in (None, [], {}):
            yield SkippedSession(id="", title=name, why=_CLAUDE_OTHERS[name])


_READERS: Mapping[str, Reader] = {
    "jsonl": read_lines,
    "json": _read_json,
    "open-webui": _chats_of("open-webui", read_open_webui),
    "chatgpt": _read_chatgpt,
    "claude": _chats_of("claude", read_claude),
    "deepseek": _chats_of("deepseek", read_deepseek),
    "librechat": _chats_of("librechat", read_librechat),
    "big-agi": _read_big_agi,
    "lm-studio": _chats_of("lm-studio", read_lm_studio),
    "jan": _read_jan,
    "sillytavern": _read_sillytavern,
    "openai": _read_openai,
    "harombe": read_harombe,
}
