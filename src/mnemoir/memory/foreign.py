"""Memories of other programs as lines of an import. Programs are told by their shape; plain text has none.

An import of them adds and closes nothing. Each statement is a memory of its own, with its time as far as it is known.
What a file holds beside them is counted, so that no word of it is lost silently.
"""

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any, Literal, get_args

from mnemoir.conversations.transfer.bounded_json import MARK, read_value
from mnemoir.conversations.transfer.copies import InvalidImport, WrongKind
from mnemoir.conversations.transfer.files import in_utf8
from mnemoir.conversations.transfer.members import read_text
from mnemoir.conversations.transfer.programs.forms import is_message
from mnemoir.conversations.transfer.programs.left_out import LeftOut
from mnemoir.conversations.transfer.programs.loose import Loose, instant_of, words_in
from mnemoir.conversations.transfer.recognition import chat_program, memory_program
from mnemoir.core.clock import to_text, utc_now
from mnemoir.core.errors import InvalidRequest

MemoryFormat = Literal["auto", "mnemoir", "mem0", "mcp", "letta", "open-webui", "claude", "text"]
Told = Mapping[str, Any]  # the members of a line of an import, without its user
_ARCHIVE = b"PK\x03\x04"
_DATABASE = b"SQLite format 3\0"
_DATED = re.compile(r"\[(\d{4}-\d{2}-\d{2})\]\.?\s*(?:[-–:]\s*)?")
_BULLET = re.compile(r"(?:[-*•]|\d{1,3}[.)])\s+")
_OBJECTS = re.compile(rb"\s*\[\s*[\[{]")  # as a list of objects begins, and no list of dated lines
_WORD = re.compile(r"\w+")
_PERSONA = "persona"  # of Letta: what the program says of itself
_INSTRUCTIONS = "instructions"
# members that hold no words of anybody: names, times and settings of a program
_TECHNICAL = frozenset(
    (
        *("id", "hash", "role", "type", "uuid", "version", "score", "event", "expiration_date", "timestamp"),
        *("agent_type", "embedding_config", "llm_config", "model_settings", "tools", "tool_rules", "tool_ids"),
        *(
            "mcp_servers",
            "tool_exec_environment_variables",
            "model",
            "embedding",
            "owner",
            "organization",
            "next",
            "previous",
        ),
    )
)
_TECHNICAL_ENDS = ("_id", "_ids", "_at", "_uuid", "_type")
_CHATS = (
    "The file holds conversations ({}), no memories. Import it with `mnemoir conversations import`, or send it to "
    "POST /api/conversations/import."
)
_UNKNOWN = (
    "The file cannot be imported. It holds neither lines of Mnemoir's export nor memories of mem0, the MCP server "
    "memory, Letta, Open WebUI or Claude. Plain text is read only as format text: `mnemoir import --as memories`."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFile:
    """What a file holds: its program as a format, its text in UTF-8, and the memories of another program.

    `memories` is None for lines of Mnemoir's own, and for a file without anything. `left_out` counts, by kind, what
    the memories hold nothing of.
    """

    program: str
    text: bytes
    memories: list[Told] | None = None
    left_out: Mapping[str, int] = field(default_factory=dict)


def read_memories(file: bytes, format: MemoryFormat) -> MemoryFile:
    """What a file holds. Raises WrongKind for conversations, and InvalidRequest for a file of no known program."""
    if format not in get_args(MemoryFormat):
        raise InvalidRequest(f"There is no format {format!r:.40}.", field="format")
    text = file.removeprefix(MARK)
    if text.startswith((_ARCHIVE, _DATABASE)) and format != "mnemoir":
        raise WrongKind(_CHATS.format("an archive or a database"))
    if format == "text" and text.strip():
        return MemoryFile(program="text", text=text, memories=list(_of_text(_plain_text(text))))
    with in_utf8(BytesIO(text)) as told:
        text = told.read()
    is_own = format == "auto" and _is_own(Loose(_first_line(text)))  # the reader of lines reads them
    if format == "mnemoir" or not text.strip() or is_own:
        return MemoryFile(program="mnemoir", text=text)
    values = _values(text)
    if values is None:
        return MemoryFile(program="mnemoir", text=text)
    program = _program_of(values) if format == "auto" else format
    left_out = LeftOut()
    memories = [told for told in _READERS[program](values, left_out) if told["memory"].strip()]
    _note_rest(values, memories, left_out)
    return MemoryFile(program=program, text=text, memories=memories, left_out=dict(left_out.counts))


def _note_rest(values: list[Any], memories: Iterable[Told], left_out: LeftOut) -> None:
    """Count each text of the file that is neither in a memory nor counted yet."""
    known = {word for text in (words_in(list(memories)), *left_out.words) for word in _WORD.findall(text)}
    waiting: list[Any] = [values]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += (inner for key, inner in value.items() if not _is_technical(key))
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, str) and not known.issuperset(_WORD.findall(value)):
            left_out.note("other words", value)


def _is_technical(name: str) -> bool:
    return name in _TECHNICAL or name.endswith(_TECHNICAL_ENDS)


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


def _values(text: bytes) -> list[Any] | None:
    """The value of the file, else the values of its lines; [] for a file that is neither.

    None for lines of which not even the first is whole: the reader of lines says so. Raises InvalidImport for a list
    that is broken, and for lines of which a later one is.
    """
    try:
        value = read_value(text, "The file")
        return value if isinstance(value, list) else [value]
    except InvalidImport as exc:
        if _OBJECTS.match(text):
            raise InvalidImport(f"{exc.message} If it is cut off, export it again.") from None
    lines = [line for line in text.splitlines() if line.strip()]
    if _first_line(text) is None:
        return None if lines[0].lstrip().startswith(b"{") else []
    try:
        return [read_value(line, f"Line {number}") for number, line in enumerate(lines, start=1)]
    except InvalidImport as exc:
        raise InvalidImport(f"{exc.message} If the file is cut off, export it again.") from None


def _program_of(values: list[Any]) -> str:
    inner = [each for value in values[:1] if isinstance(value, list) for each in value]
    first = next((Loose(value) for value in [*values, *inner] if isinstance(value, dict)), Loose(None))
    if (found := memory_program(first)) is not None:
        return found
    program = chat_program(first) or ("openai" if is_message(first) else None)
    if program is not None:
        raise WrongKind(_CHATS.format(program))
    if "content" in first and "role" not in first:
        return "open-webui"
    raise InvalidRequest(_UNKNOWN, code="invalid_import")


def _is_own(told: Loose) -> bool:
    """Whether it is a line of an export, or meant as one: the reader of lines tells what is wrong with it."""
    if (program := memory_program(told)) is not None and program != "mem0":
        return False
    names = ("memory", "kind", "user_id")
    is_foreign = "hash" in told or "categories" in told or isinstance(told.raw("results"), list)
    return not is_foreign and any(name in told for name in names)


def _of_mem0(values: list[Any], left_out: LeftOut) -> Iterator[Told]:
    for value in values:
        page = Loose(value)
        if isinstance(page.raw("results"), list):
            yield from _of_mem0(page.values("results"), left_out)
            for relation in page.values("relations"):
                left_out.note("relations", relation)
            continue
        about = {
            **_members(page, "metadata"),
            **({"categories": page.raw("categories")} if page.values("categories") else {}),
        }
        text = value if isinstance(value, str) else page.words("memory", "data") or page.words("text")
        told: dict[str, Any] = {"memory": text, **_times(page)}
        if about:
            told["metadata"] = about
        if (day := read_text(page.text("expiration_date"))) is not None:
            told["expiration_date"] = f"{day.date()}"
        told |= {name: page.text(name) for name in ("agent_id", "run_id", "app_id") if page.text(name)}
        yield told


def _of_mcp(values: list[Any], left_out: LeftOut) -> Iterator[Told]:
    for value in values:
        told = Loose(value)
        if "type" not in told and ("entities" in told or "relations" in told):  # the graph as an answer has it
            yield from (memory for entity in told.objects("entities") for memory in _of_entity(entity))
            yield from map(_of_relation, told.objects("relations"))
        elif told.text("type") == "relation":
            yield _of_relation(told)
        elif told.text("type") == "entity":
            yield from _of_entity(told)


def _of_relation(told: Loose) -> Told:
    parts = {name: told.words(name) for name in ("from", "relationType", "to")}
    return {"memory": " ".join(filter(None, parts.values())), "metadata": parts, **_times(told)}


def _of_entity(told: Loose) -> Iterator[Told]:
    name, kind = told.words("name"), told.words("entityType")
    about = {"metadata": {"entityType": kind}} if kind else {}
    for observation in told.values("observations") or [told.raw("observations")]:
        if text := words_in(observation):
            yield {"memory": f"{name}: {text}" if name else text, **about, **_times(told)}


def _of_letta(values: list[Any], left_out: LeftOut) -> Iterator[Told]:
    for value in values:
        file = Loose(value)
        for agent in [file, *file.objects("agents")]:
            left_out.note(_INSTRUCTIONS, agent.raw("system"))
            for message in agent.objects("messages"):
                left_out.note("messages", message.words("content", "text", "tool_calls", "tool_returns"))
            for name in ("core_memory", "blocks", "memory_blocks"):
                for block in agent.objects(name):
                    yield from _of_block(block, left_out)


def _of_block(block: Loose, left_out: LeftOut) -> Iterator[Told]:
    left_out.note(_INSTRUCTIONS, block.raw("description"))
    if block.text("label") == _PERSONA:
        left_out.note(_INSTRUCTIONS, [block.raw("label"), block.raw("value")])
        return
    for told in _of_text(block.words("value")):
        yield {**told, **_times(block), "metadata": {"block": block.text("label")}}


def _of_open_webui(values: list[Any], left_out: LeftOut) -> Iterator[Told]:
    for value in values:
        told = Loose(value)
        yield {"memory": told.words("content"), **_times(told)}


def _of_claude(values: list[Any], left_out: LeftOut) -> Iterator[Told]:
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
    """When it was said and changed; the time of the import where that is not known, or not yet come."""
    created, updated = told.instant("created_at"), told.instant("updated_at")
    times = {"created_at": to_text(utc_now()) if created is None else f"{created.isoformat()}Z"}
    return {**times, **({"updated_at": f"{updated.isoformat()}Z"} if created and updated else {})}


def _members(told: Loose, name: str) -> Mapping[str, Any]:
    value = told.raw(name)
    return value if isinstance(value, dict) else {}


_READERS: Mapping[str, Callable[[list[Any], LeftOut], Iterable[Told]]] = {
    "mem0": _of_mem0,
    "mcp": _of_mcp,
    "letta": _of_letta,
    "open-webui": _of_open_webui,
    "claude": _of_claude,
}
