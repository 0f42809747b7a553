"""The text of a ledger: a JSON array, as WilmerAI writes it, or one JSON value a line, as ours is.

A line that a killed writer left unfinished is no part of the ledger. It can only be the last one, it has no line end,
and it begins like a line of ours; anything else that is no JSON is damage. Lines keep their bytes until they change,
so that nothing in them is altered by reading.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import orjson

Json = Any  # other programs write any members into it

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Entry:
    """One value and its line as stored; b"" for an entry of an array, and for a changed one."""

    value: Json
    line: bytes = b""

    def with_members(self, *, without: Sequence[str] = (), **members: Json) -> "Entry":
        """A copy with other values for members of the object, and without some."""
        exact = _loads_exactly(self.line) if self.line else self.value
        return Entry({name: value for name, value in exact.items() if name not in without} | members)


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerText:
    """A parsed ledger. `end` is the number of valid bytes; `is_open` is True when the last line end is missing."""

    entries: Sequence[Entry]
    is_array: bool = False
    end: int = 0
    is_open: bool = False


def parse(content: bytes, *, is_array: bool) -> LedgerText:
    """The ledger in this content: an array with `is_array`, else either form. Raises ValueError for anything else."""
    if is_array or begins_as_array(content):
        return LedgerText(entries=[Entry(value) for value in _array(content)], is_array=True, end=len(content))
    body = content.removeprefix(_BOM)
    *whole, last = body.split(b"\n")
    entries = list(_entries(whole))
    if not last.strip():
        return LedgerText(entries=entries, end=len(content))
    if is_unfinished(last):
        return LedgerText(entries=entries, end=len(content) - len(last))
    return LedgerText(entries=[*entries, Entry(loads(last), last)], end=len(content), is_open=True)


def begins_as_array(content: bytes) -> bool:
    """True when the content, or its first bytes, are those of an array."""
    return content.removeprefix(_BOM).lstrip()[:1] == b"["


def is_unfinished(last: bytes) -> bool:
    """True when a last line without a line end was written incompletely."""
    try:
        loads(last)
    except ValueError:
        return last.lstrip(b"\0")[:1] in (b"", b"{")
    return False


def loads(text: bytes) -> Json:
    """One JSON value. Raises ValueError."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return _loads_exactly(text)  # it accepts halves of surrogate pairs, which orjson refuses


def line_of(value: Json) -> bytes:
    """The value on one line, with its line end. Raises ValueError for one that is nested too deeply."""
    with _deep_nesting():
        try:
            return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        except UnicodeEncodeError:  # half of a surrogate pair can only be written escaped
            return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def lines_of(entries: Sequence[Entry]) -> bytes:
    """The values of all entries, one a line. Raises ValueError."""
    return b"".join(entry.line + b"\n" if entry.line else line_of(entry.value) for entry in entries)


def array_of(entries: Sequence[Entry]) -> bytes:
    """All entries as an array in WilmerAI's form: four spaces and ASCII. Raises ValueError."""
    with _deep_nesting():
        return json.dumps([entry.value for entry in entries], indent=4).encode()


def _entries(lines: Sequence[bytes]) -> Iterator[Entry]:
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                yield Entry(loads(line), line)
            except ValueError as exc:
                raise ValueError(f"line {number} is no JSON: {exc}") from exc


def _array(content: bytes) -> list[Json]:
    values = _loads_exactly(content.removeprefix(_BOM)) if content.strip() else []
    if not isinstance(values, list):
        raise ValueError("it is JSON, but not an array")
    return values


def _loads_exactly(text: bytes) -> Json:
    """Parse with the standard library, which keeps long integers exact."""
    with _deep_nesting():
        return json.loads(text)


@contextmanager
def _deep_nesting() -> Iterator[None]:
    try:
        yield
    except RecursionError as exc:
        raise ValueError("it is nested too deeply") from exc
