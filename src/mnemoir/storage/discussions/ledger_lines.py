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

Json = Any  # other programs put into it what they like

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Entry:
    """One value, and its line as it stands in the file; b"" for an entry of an array, and for one that changed."""

    value: Json
    line: bytes = b""

    def changed(self, *, without: Sequence[str] = (), **members: Json) -> "Entry":
        """With other values for members of the object, and some taken out."""
        exact = _loads_exactly(self.line) if self.line else self.value
        return Entry({name: value for name, value in exact.items() if name not in without} | members)


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerText:
    """A ledger as it was read. `end` is how many bytes count; `is_open` when the last line end is missing."""

    entries: Sequence[Entry]
    is_array: bool = False
    end: int = 0
    is_open: bool = False


def parse(content: bytes, *, is_array: bool) -> LedgerText:
    """Raises ValueError for what is neither. `is_array` when it must be an array; else both are understood."""
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
    """Whether the content, or its first bytes, are those of an array."""
    return content.removeprefix(_BOM).lstrip()[:1] == b"["


def is_unfinished(last: bytes) -> bool:
    """Whether a last line without its line end was never written to its end."""
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
        return _loads_exactly(text)  # it knows halves of surrogate pairs, which the other refuses


def line_of(value: Json) -> bytes:
    """The value on one line, with its line end. Raises ValueError for one that is nested too deeply."""
    with _deep_nesting():
        try:
            return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        except UnicodeEncodeError:  # half of a surrogate pair can only be written escaped
            return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def lines_of(entries: Sequence[Entry]) -> bytes:
    """All of them, one a line. Raises ValueError."""
    return b"".join(entry.line + b"\n" if entry.line else line_of(entry.value) for entry in entries)


def array_of(entries: Sequence[Entry]) -> bytes:
    """All of them as WilmerAI writes an array: four spaces and ASCII. Raises ValueError."""
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
    """By the standard library, which keeps long integers as they are."""
    with _deep_nesting():
        return json.loads(text)


@contextmanager
def _deep_nesting() -> Iterator[None]:
    try:
        yield
    except RecursionError as exc:
        raise ValueError("it is nested too deeply") from exc
