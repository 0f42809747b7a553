"""Parsing of untrusted JSON: size, depth and number of values are checked before parsing.

A scan that stores nothing finds values of a hundred thousand levels or a million members. Duplicate members, numbers
of a thousand digits and NaN are refused, because parsers disagree about them.
"""

import json
import math
import re
from collections.abc import Iterator
from typing import IO, Any

from mnemoir.conversations.transfer.copies import ImportTooLarge, InvalidImport

MOST_BYTES = 64 * 2**20  # of one value: a line, or a session
_MOST_LEVELS = 100
_MOST_VALUES = 500_000
_MOST_DIGITS = 40
_NEAR = 200  # bytes before a list within which its name stands
BRANCHES = "children"  # the member of a message with those that follow it
_PIECE = 2**20
# a whole string, or a structural byte outside of strings; a single quotation mark begins an unfinished string
TOKENS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|["\[\]{},]', re.DOTALL)
_SCALAR = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[-+.\w]++', re.DOTALL)
_BLANKS = re.compile(rb"[ \t\r\n]*+")
MARK = b"\xef\xbb\xbf"  # the byte order mark at the beginning of some UTF-8 files


def read_value(raw: bytes, place: str) -> Any:
    """The JSON value in `raw`. Raises InvalidImport that names `place`."""
    if len(raw) > MOST_BYTES:
        raise _too_long(place)
    _refuse_swollen(raw, place)
    try:
        return _DECODER.decode(raw.decode("utf-8"))
    except json.JSONDecodeError as exc:
        raise InvalidImport(
            f"{place} is not valid JSON: {exc.msg} (line {exc.lineno}, column {exc.colno} of it)."
        ) from None
    except UnicodeDecodeError as exc:
        raise InvalidImport(f"{place} is not UTF-8: byte {exc.start + 1} of it is not text.") from None
    except _AmbiguousJson as exc:
        raise InvalidImport(f"{place}: {exc}.") from None


def array_items(file: IO[bytes], place: str) -> Iterator[bytes]:
    """The values of an array that is the whole file, one after another, each as bytes.

    `place` is the noun for items in errors: "Conversation" for "Conversation 3 is …".
    """
    window = _Window(file)
    window.take(b"[", f"The file begins no list of {place.lower()}s.")
    number = 0
    if window.next() == b"]":
        window.take(b"]", "")
    else:
        while True:
            number += 1
            yield window.take_value(f"{place} {number}")
            if window.next() == b"]":
                window.take(b"]", "")
                break
            window.take(b",", f"{place} {number} is followed by neither a comma nor the end of the list.")
    if window.next():
        raise InvalidImport(f"Behind {place.lower()} {number}, the last one, the file continues. Is it two files?")


def first_byte(file: IO[bytes]) -> bytes:
    """The first byte after blanks and a byte order mark; b"" for none. The file is then at its beginning again."""
    try:
        return _Window(file).next()
    finally:
        file.seek(0)


class _Window:
    """The part of a file in memory, with a read position."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._seen = bytearray(file.read(_PIECE))
        self._at = len(MARK) if self._seen.startswith(MARK) else 0

    def next(self) -> bytes:
        """The next byte that is not blank, without consuming it; b"" at the end."""
        while True:
            found = _BLANKS.match(self._seen, self._at)
            self._at = found.end() if found else self._at
            if self._at < len(self._seen) or not self._more():
                return bytes(self._seen[self._at : self._at + 1])

    def take(self, byte: bytes, otherwise: str) -> None:
        if self.next() != byte:
            raise InvalidImport(otherwise)
        self._at += 1

    def take_value(self, place: str) -> bytes:
        if self.next() not in (b"{", b"["):
            return self._take_scalar(place)
        while (end := _end_of(self._seen, self._at, place, with_branches=True)) is None:
            if len(self._seen) - self._at > MOST_BYTES:
                raise _too_long(place)
            if not self._more():
                raise InvalidImport(f"{place} has no end: the file is cut off. Export it again.")
        taken = bytes(self._seen[self._at : end])
        self._at = end
        return taken

    def _take_scalar(self, place: str) -> bytes:
        """A text, number or name: programs put them where an object has been lost."""
        while (found := _SCALAR.match(self._seen, self._at)) is None or found.end() == len(self._seen):
            if len(self._seen) - self._at > MOST_BYTES:
                raise _too_long(place)
            if (found is None and self.next() != b'"') or not self._more():
                raise InvalidImport(f"{place} is no value, or the file ends in it.")
        taken = bytes(found[0])
        self._at = found.end()
        return taken

    def _more(self) -> bool:
        """Read more of the file. The size doubles, so that repeated scans read at most as much as new data."""
        del self._seen[: self._at]
        self._at = 0
        more = self._file.read(max(_PIECE, len(self._seen)))
        self._seen += more
        return bool(more)


def _end_of(raw: bytes | bytearray, start: int, place: str, *, with_branches: bool = False) -> int | None:
    """The end of the object or list that begins at `start`; None when it does not end in `raw`.

    With branches, those of messages and the objects in them count as no levels.
    """
    level = values = 0
    branches: list[int] = []  # their levels
    for token in TOKENS.finditer(raw, start):
        byte = raw[token.start()]
        if byte == _QUOTE:
            if token.end() - token.start() == 1:
                return None
            continue
        if byte in _OPENING:
            level += 1
            if with_branches and byte == _BRACKET and is_branch_list(raw, token.start(), BRANCHES):
                branches.append(level)
        elif byte in _CLOSING:
            if branches and branches[-1] == level:
                branches.pop()
            level -= 1
            if not level:
                return token.end()
            continue
        values += 1
        if level - 2 * len(branches) > _MOST_LEVELS:
            raise ImportTooLarge(
                f"{place} is nested more than {_MOST_LEVELS} levels deep. Export the chat in another form, such as a "
                "list of messages."
            )
        if values > _MOST_VALUES:
            raise ImportTooLarge(f"{place} has more than {_MOST_VALUES} values.")
    return None


def _refuse_swollen(raw: bytes, place: str) -> None:
    """Raise InvalidImport when parsing would cost too much. Counting bytes avoids the scan for most values."""
    brackets = raw.count(b"[") + raw.count(b"{")
    if brackets > _MOST_LEVELS or brackets + raw.count(b",") > _MOST_VALUES:
        start = _BLANKS.match(raw)
        _end_of(raw, start.end() if start else 0, place)


def is_deep(raw: bytes) -> bool:
    """Whether a value may have more levels than are parsed."""
    return raw.count(b"[") + raw.count(b"{") > _MOST_LEVELS


def refuse_swollen_branches(raw: bytes, place: str) -> None:
    """Raise InvalidImport where a value is too large, or deeper than the branches of its messages make it."""
    if len(raw) > MOST_BYTES:
        raise _too_long(place)
    start = _BLANKS.match(raw)
    _end_of(raw, start.end() if start else 0, place, with_branches=True)


def is_branch_list(raw: bytes | bytearray, at: int, member: str) -> bool:
    """Whether the list that begins there is the member of that name."""
    before = raw[max(0, at - _NEAR) : at].rstrip()
    name = before[:-1].rstrip() if before.endswith(b":") else b""
    return name.endswith(b'"%s"' % member.encode()) and not name.endswith(b'\\"%s"' % member.encode())


def _too_long(place: str) -> ImportTooLarge:
    return ImportTooLarge(f"{place} is longer than {MOST_BYTES} bytes.")


class _AmbiguousJson(Exception):
    """JSON that different parsers read differently."""


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _AmbiguousJson("a member is there twice in one object")
    return members


def _whole(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise _AmbiguousJson(f"a number has more than {_MOST_DIGITS} digits")
    return int(digits)


def _fraction(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise _AmbiguousJson("a number is too large")
    return number


def _no_number(name: str) -> float:
    raise _AmbiguousJson(f"{name} is not a number in JSON")


_QUOTE, _BRACKET, _OPENING, _CLOSING = b'"'[0], b"["[0], b"[{", b"]}"
_DECODER = json.JSONDecoder(
    object_pairs_hook=_members, parse_int=_whole, parse_float=_fraction, parse_constant=_no_number
)
