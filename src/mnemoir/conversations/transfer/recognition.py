"""Recognition of a file's format by its beginning, and the choice of its reader."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, BinaryIO, Literal

from mnemoir.conversations.transfer.bounded_json import MARK, MOST_BYTES, array_items, first_byte, read_value
from mnemoir.conversations.transfer.chatgpt import read_chatgpt
from mnemoir.conversations.transfer.copies import ImportTooLarge, InvalidImport, SessionCopy
from mnemoir.conversations.transfer.files import is_archive
from mnemoir.conversations.transfer.harombe import MAGIC, read_harombe
from mnemoir.conversations.transfer.open_webui import read_open_webui
from mnemoir.conversations.transfer.own_reading import is_header, read_lines, read_object

ImportFormat = Literal["auto", "jsonl", "json", "open-webui", "chatgpt", "harombe"]
Reader = Callable[[BinaryIO], Iterator[SessionCopy]]

_UNKNOWN = (
    "The file cannot be imported: it is not an export of Mnemoir, Open WebUI or ChatGPT, or the database of harombe."
)


def reader_of(file: BinaryIO, format: ImportFormat) -> Reader:
    """The reader of the file. Raises InvalidImport for a file of no known program and for an unknown format."""
    file.seek(0)
    if format == "auto":
        return _READERS[_format_of(file)]
    if format not in _READERS:
        raise InvalidImport(
            f"There is no format {format!r:.40}; there are auto, {', '.join(_READERS)}.", field="format"
        )
    return _READERS[format]


def _format_of(file: BinaryIO) -> str:
    begins_with_magic = file.read(len(MAGIC)) == MAGIC
    file.seek(0)
    if begins_with_magic:
        return "harombe"
    if is_archive(file):
        return "chatgpt"
    match first_byte(file):
        case b"[":
            return _by_members(_first_item(file))
        case b"{":
            return _by_object(file)
    raise InvalidImport(_UNKNOWN)


def _by_object(file: BinaryIO) -> str:
    """The format of a file that begins with an object: JSON lines, or one object over many lines."""
    try:
        value = read_value(_first_line(file), "The first line")
    except ImportTooLarge:
        raise
    except InvalidImport:
        file.seek(0)
        value = read_value(file.read(MOST_BYTES + 1).removeprefix(MARK), "The file")
    finally:
        file.seek(0)
    if is_header(value):
        return "json" if "messages" in value else "jsonl"
    return _by_members(value)


def _by_members(value: Any) -> str:
    """The format of another program, by the members of its first conversation. Raises InvalidImport."""
    if isinstance(value, dict) and "mapping" in value:
        return "chatgpt"
    if isinstance(value, dict) and ("chat" in value or "history" in value or "messages" in value):
        return "open-webui"
    raise InvalidImport(_UNKNOWN)


def _first_item(file: BinaryIO) -> Any:
    """The first conversation of a list; for an empty list a conversation without messages."""
    try:
        raw = next(array_items(file, "Conversation"), b'{"messages":[]}')
    finally:
        file.seek(0)
    return read_value(raw, "Conversation 1")


def _first_line(file: BinaryIO) -> bytes:
    """The first line that is not blank; b"" for none."""
    while line := file.readline(MOST_BYTES + 1):
        if value := line.removeprefix(MARK).strip():
            return value
    return b""


def _read_json(file: BinaryIO) -> Iterator[SessionCopy]:
    value = read_value(file.read(MOST_BYTES + 1).removeprefix(MARK), "The file")
    if not is_header(value):
        raise InvalidImport("The file is not a session of Mnemoir.")
    yield read_object(value, "The file")


_READERS: Mapping[str, Reader] = {
    "jsonl": read_lines,
    "json": _read_json,
    "open-webui": read_open_webui,
    "chatgpt": read_chatgpt,
    "harombe": read_harombe,
}
