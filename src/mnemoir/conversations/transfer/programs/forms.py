"""The forms in which programs write files of chats: lists, objects, lines of JSON, archives."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import IO, Any, BinaryIO
from zipfile import ZipFile, ZipInfo

from mnemoir.conversations.transfer.bounded_json import MARK, MOST_BYTES, array_items, first_byte, read_value
from mnemoir.conversations.transfer.branched_json import read_conversation
from mnemoir.conversations.transfer.copies import ImportTooLarge, InvalidImport, SessionCopy, SkippedSession
from mnemoir.conversations.transfer.files import archive_entries, is_archive, opened_archive
from mnemoir.conversations.transfer.programs.big_agi import read_big_agi
from mnemoir.conversations.transfer.programs.chatgpt import Files, no_files, reader_with
from mnemoir.conversations.transfer.programs.chats import ITEM, ForeignChat, chat_in, read_chats
from mnemoir.conversations.transfer.programs.jan import read_jan
from mnemoir.conversations.transfer.programs.loose import Loose
from mnemoir.conversations.transfer.programs.openai_messages import read_openai_messages
from mnemoir.conversations.transfer.programs.sillytavern import read_sillytavern

Item = SessionCopy | SkippedSession
Reader = Callable[[BinaryIO], Iterator[Item]]
Line = tuple[bytes, Any]  # a line of a file, and its value
ReadChat = Callable[[Loose], ForeignChat]

JAN_MESSAGES = "messages.jsonl"
_JAN_THREAD = "thread.json"
_CONVERSATIONS = re.compile(r"conversations(?:-\d{1,6})?\.json")
_MOST_PICTURE_BYTES = 20 * 2**20
_CLAUDE_OTHERS = {
    "projects.json": "Projects are not read; their documents and instructions stay in the file.",
    "users.json": "Accounts are not read.",
    "memories.json": "It holds memories, no conversations. Import it by itself, with `mnemoir import`.",
}


def is_message(told: Loose) -> bool:
    return isinstance(told.raw("role"), str) and ("content" in told or "tool_calls" in told)


def first_line(file: IO[bytes]) -> bytes:
    """The first line that is not blank; b"" for none."""
    return next_line(file).removeprefix(MARK).strip()


def next_line(file: IO[bytes]) -> bytes:
    while line := file.readline(MOST_BYTES + 1):
        if line.removeprefix(MARK).strip():
            return line
    return b""


def _objects_of_lines(file: IO[bytes]) -> Iterator[Line]:
    """Each line with its value; its text for a line that is no JSON."""
    number = 0
    while line := next_line(file):
        number += 1
        raw = line.removeprefix(MARK).strip()
        try:
            yield raw, read_conversation(raw, f"Line {number}")
        except ImportTooLarge:
            raise
        except InvalidImport:
            yield raw, raw.decode("utf-8", "replace")  # whose words are left out, and counted


def _is_of_lines(file: IO[bytes]) -> bool:
    """Whether the file has an object on its first line and more behind it. One object may stand over many lines."""
    try:
        _, first = next(_objects_of_lines(file), (b"", None))
        return isinstance(first, dict) and bool(next_line(file))
    finally:
        file.seek(0)


def chats_of(program: str, read: ReadChat) -> Reader:
    """The reader of a program whose chats are JSON objects: in a list, alone, in lines, or in an archive."""

    def read_file(file: BinaryIO) -> Iterator[Item]:
        if not is_archive(file):
            yield from _read_objects(file, program, read)
            return
        with opened_archive(file) as archive:
            for entry in conversation_entries(archive):
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


def read_chatgpt_file(file: BinaryIO) -> Iterator[Item]:
    if not is_archive(file):
        yield from _read_objects(file, "chatgpt", reader_with(no_files))
        return
    with opened_archive(file) as archive:
        read = reader_with(_files_of(archive))
        for entry in conversation_entries(archive):
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


def read_big_agi_file(file: BinaryIO) -> Iterator[Item]:
    """One conversation, or all of them within an object."""
    value = Loose(read_value(file.read(MOST_BYTES + 1).removeprefix(MARK), "The file"))
    conversations = value.values("conversations")
    if not conversations:
        file.seek(0)
        yield from _read_objects(file, "big-agi", read_big_agi)
        return
    folders = {
        id: folder.title("title")
        for folder in value.object("folders").objects("folders")
        for id in folder.values("conversationIds")
        if isinstance(id, str)
    }
    for number, one in enumerate(conversations, start=1):
        if (folder := folders.get(Loose(one).name("id") or "")) and isinstance(one, dict):
            one.setdefault("folder", folder)
        yield chat_in(one, repr(one).encode(), f"{ITEM} {number}", "big-agi", read_big_agi)


def read_openai_file(file: BinaryIO) -> Iterator[Item]:
    """Lists of messages: objects that have one, lists, lines of such objects, or lines or a list of messages."""
    if first_byte(file) == b"[":
        items = [(raw, _value(raw)) for raw in array_items(file, ITEM)]
    elif _is_of_lines(file):
        items = list(_objects_of_lines(file))
    else:
        whole = file.read(MOST_BYTES + 1).removeprefix(MARK)
        items = [(whole, read_value(whole, "The file"))]
    if any(is_message(Loose(value)) for _, value in items):
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


def read_sillytavern_file(file: BinaryIO) -> Iterator[Item]:
    lines = list(_objects_of_lines(file))
    values = [value for _, value in lines]
    header = values[0] if values and not {"mes", "swipes"} & set(Loose(values[0])) else None
    told = {"header": header, "messages": values if header is None else values[1:]}
    yield chat_in(told, _bytes_of(lines), f"{ITEM} 1", "sillytavern", read_sillytavern)


def read_jan_file(file: BinaryIO) -> Iterator[Item]:
    """A file of messages, or the archive of Jan's folder with one for each thread."""
    if not is_archive(file):
        yield from _threads(_objects_of_lines(file))
        return
    with opened_archive(file) as archive:
        entries = {entry.filename: entry for entry in archive_entries(archive)}
        for name, entry in sorted(entries.items()):
            path = PurePosixPath(name)
            if path.name != JAN_MESSAGES:
                continue
            beside = entries.get(str(path.with_name(_JAN_THREAD)))
            thread = None if beside is None else _value(archive.read(beside))
            with archive.open(entry) as inner:
                lines = list(_objects_of_lines(inner))
            told = {"thread": thread, "messages": [value for _, value in lines]}
            yield chat_in(told, _bytes_of(lines), name, "jan", read_jan)
        yield from _threads_without_messages(archive, entries)


def _threads_without_messages(archive: ZipFile, entries: Mapping[str, ZipInfo]) -> Iterator[SkippedSession]:
    for name, entry in sorted(entries.items()):
        path = PurePosixPath(name)
        if path.name == _JAN_THREAD and str(path.with_name(JAN_MESSAGES)) not in entries:
            about = Loose(_value(archive.read(entry)))
            title = about.title("title") or name
            yield SkippedSession(id=about.name("id") or "", title=title[:200], why="It has no messages.")


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


def conversation_entries(archive: ZipFile) -> Sequence[ZipInfo]:
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
