"""Memories of other programs as lines of an import. Programs are told by their shape; plain text has none.

An import of them adds and closes nothing. Each statement is a memory of its own, with its time as far as it is known.
"""

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, get_args

from mnemoir.conversations.transfer.bounded_json import MARK, read_value
from mnemoir.conversations.transfer.copies import InvalidImport, WrongKind
from mnemoir.conversations.transfer.programs.loose import Loose, instant_of, words_in
from mnemoir.conversations.transfer.recognition import chat_program
from mnemoir.core.clock import to_text, utc_now
from mnemoir.core.errors import InvalidRequest

MemoryFormat = Literal["auto", "mnemoir", "mem0", "mcp", "letta", "open-webui", "claude", "text"]
Told = Mapping[str, Any]  # the members of a line of an import, without its user
_ARCHIVE = b"PK\x03\x04"
_DATABASE = b"SQLite format 3\0"
_DATED = re.compile(r"\[(\d{4}-\d{2}-\d{2})\]\.?\s*(?:[-–:]\s*)?")
_BULLET = re.compile(r"(?:[-*•]|\d{1,3}[.)])\s+")
_PERSONA = "persona"  # of Letta: what the program says of itself
_CHATS = (
    "The file holds conversations ({}), no memories. Import it with `mnemoir conversations import`, or send it to "
    "POST /api/conversations/import."
)
_UNKNOWN = (
    "The file cannot be imported. It holds neither lines of Mnemoir's export nor memories of mem0, the MCP server "
    "memory, Letta, Open WebUI or Claude. Plain text is read only as format text: `mnemoir import --as memories`."
)


def foreign_memories(file: bytes, format: MemoryFormat) -> list[Told] | None:
    """The memories of a file of another program; None for lines of Mnemoir's own, and for a file without anything.

    Raises WrongKind for conversations, and InvalidRequest for a file of no known program.
    """
    return read_memories(file, format)[1]


def read_memories(file: bytes, format: MemoryFormat) -> tuple[str, list[Told] | None]:
    """The program that a file is of, as a format, and its memories as `foreign_memories` gives them; it raises so."""
    if format not in get_args(MemoryFormat):
        raise InvalidRequest(f"There is no format {format!r:.40}.", field="format")
    text = file.removeprefix(MARK)
    if format == "mnemoir" or not text.strip():
        return "mnemoir", None
    if text.startswith((_ARCHIVE, _DATABASE)):
        raise WrongKind(_CHATS.format("an archive or a database"))
    if format == "text":
        return "text", list(_of_text(_plain_text(text)))
    if format == "auto" and _is_own(Loose(_first_line(text))):
        return "mnemoir", None  # the reader of lines reads them
    values = _values(text)
    program = _program_of(values) if format == "auto" else format
    if program == "mnemoir":
        return "mnemoir", None
    return program, [told for told in _READERS[program](values) if told["memory"].strip()]


def _plain_text(file: bytes) -> str:
    """The text of a file. Raises InvalidImport for bytes that are none."""
    encoding = "utf-16" if file.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8"
    try:
        text = file.decode(encoding)
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise InvalidImport("The file is no plain text. Save it as UTF-8.")
    return text


def _first_line(text: bytes) -> Any:
    """The value of the first line that is not blank; None for a line that is no JSON."""
    try:
        return read_value(text.lstrip().partition(b"\n")[0].strip(), "Line 1")
    except InvalidImport:
        return None


def _values(text: bytes) -> list[Any]:
    """The value of the file, else the values of its lines; [] for a file that is neither."""
    try:
        value = read_value(text, "The file")
        return value if isinstance(value, list) else [value]
    except InvalidImport:
        lines = [line for line in text.splitlines() if line.strip()]
    try:
        return [read_value(line, f"Line {number}") for number, line in enumerate(lines, start=1)]
    except InvalidImport:
        first = lines[0].lstrip()[:1]
        return [{"memory": "", "user_id": ""}] if first == b"{" else []  # its lines are told one by one


def _program_of(values: list[Any]) -> str:
    first = next((Loose(value) for value in values if isinstance(value, dict)), Loose(None))
    found = next((program for program, has in _SHAPES.items() if has(first)), None)
    if found is not None:
        return found
    if (program := chat_program(first)) is not None:
        raise WrongKind(_CHATS.format(program))
    raise InvalidRequest(_UNKNOWN, code="invalid_import")


def _is_own(told: Loose) -> bool:
    """Whether it is a line of an export, or meant as one: the reader of lines tells what is wrong with it."""
    names = ("memory", "kind", "user_id")
    return "hash" not in told and "categories" not in told and any(name in told for name in names)


_SHAPES: Mapping[str, Callable[[Loose], bool]] = {
    "letta": lambda told: "blocks" in told and "agents" in told,
    "mcp": lambda told: told.text("type") in ("entity", "relation"),
    "claude": lambda told: "conversations_memory" in told,
    "open-webui": lambda told: "content" in told and "role" not in told and "memory" not in told,
    "mem0": lambda told: isinstance(told.raw("results"), list) or ("memory" in told and not _is_own(told)),
    "mnemoir": _is_own,
}


def _of_mem0(values: list[Any]) -> Iterator[Told]:
    for value in values:
        page = Loose(value)
        if isinstance(page.raw("results"), list):
            yield from _of_mem0(page.values("results"))
            continue
        about = {
            **_members(page, "metadata"),
            **({"categories": page.raw("categories")} if page.values("categories") else {}),
        }
        told: dict[str, Any] = {"memory": page.words("memory", "data"), **_times(page)}
        if about:
            told["metadata"] = about
        if day := page.text("expiration_date"):
            told["expiration_date"] = day[:10]
        told |= {name: page.text(name) for name in ("agent_id", "run_id", "app_id") if page.text(name)}
        yield told


def _of_mcp(values: list[Any]) -> Iterator[Told]:
    for value in values:
        told = Loose(value)
        if told.text("type") == "relation":
            parts = {name: told.words(name) for name in ("from", "relationType", "to")}
            yield {"memory": " ".join(filter(None, parts.values())), "metadata": parts, **_times(told)}
            continue
        name = told.words("name")
        for observation in told.values("observations"):
            text = words_in(observation)
            yield {"memory": f"{name}: {text}" if name and text else text, **_times(told)}


def _of_letta(values: list[Any]) -> Iterator[Told]:
    for value in values:
        for block in Loose(value).objects("blocks"):
            if block.text("label") != _PERSONA:
                for told in _of_text(block.words("value")):
                    yield {**told, **_times(block), "metadata": {"block": block.text("label")}}


def _of_open_webui(values: list[Any]) -> Iterator[Told]:
    for value in values:
        told = Loose(value)
        yield {"memory": told.words("content"), **_times(told)}


def _of_claude(values: list[Any]) -> Iterator[Told]:
    for value in values:
        told = Loose(value)
        yield from _of_text(told.words("conversations_memory"))
        yield from _of_text(words_in(told.raw("project_memories")))


def _of_text(text: str) -> Iterator[Told]:
    """A memory for each paragraph where there are several, else for each line; `[2025-01-12].` is the day of one."""
    pieces = [" ".join(piece.split()) for piece in re.split(r"\n\s*\n", text.replace("\r", "")) if piece.strip()]
    if len(pieces) < 2 or any(_BULLET.match(line) for line in text.splitlines()):
        pieces = [line.strip() for line in text.splitlines() if line.strip()]
    for piece in pieces:
        bare = _BULLET.sub("", piece, count=1) if _BULLET.match(piece) else piece
        dated = _DATED.match(bare)
        at = instant_of(dated[1]) if dated else None
        yield {
            "memory": bare[dated.end() :] if dated and at else bare,
            "created_at": f"{dated[1]}T00:00:00Z" if dated and at else to_text(utc_now()),
        }


def _times(told: Loose) -> Told:
    created, updated = told.instant("created_at"), told.instant("updated_at")
    times = {"created_at": to_text(utc_now()) if created is None else f"{created.isoformat()}Z"}
    return {**times, **({"updated_at": f"{updated.isoformat()}Z"} if created and updated else {})}


def _members(told: Loose, name: str) -> Mapping[str, Any]:
    value = told.raw(name)
    return value if isinstance(value, dict) else {}


_READERS: Mapping[str, Callable[[list[Any]], Iterable[Told]]] = {
    "mem0": _of_mem0,
    "mcp": _of_mcp,
    "letta": _of_letta,
    "open-webui": _of_open_webui,
    "claude": _of_claude,
}
