"""Typed access to the members of JSON objects in a file, their times too; errors name position and member."""

import hashlib
import uuid
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import IO, Any

from mnemoir.conversations.transfer.bounded_json import MARK, MOST_BYTES, array_items, first_byte, read_value
from mnemoir.conversations.transfer.copies import InvalidImport
from mnemoir.core.clock import from_epoch, from_text
from mnemoir.core.conversations import checked_session_id, naive_utc
from mnemoir.core.errors import InvalidRequest

_ITEM = "Conversation"


_EARLIEST, _LATEST = datetime(1970, 1, 1), datetime(2200, 1, 1)  # a time outside is an error
_MILLISECONDS = 1e11  # as seconds this is the year 5138


def text_of_time(instant: datetime | None) -> str | None:
    """The text of a time in naive UTC: `2026-03-04T12:00:00.000000Z`; None for None."""
    return None if instant is None else instant.isoformat(timespec="microseconds") + "Z"


def read_text(text: str) -> datetime | None:
    """The time of a text, in naive UTC; None for an invalid text or a time outside 1970 to 2199."""
    return _sensible(from_text(text))


def read_epoch(number: float) -> datetime | None:
    """The time of a number of seconds since 1970, or of milliseconds when it is too large for seconds."""
    return _sensible(from_epoch(number / 1000 if abs(number) >= _MILLISECONDS else number))


def _sensible(instant: datetime | None) -> datetime | None:
    if instant is None:
        return None
    found = naive_utc(instant)
    return found if _EARLIEST <= found < _LATEST else None


class Members:
    """A JSON object at a position of a file. Missing and null members are equal; unknown members are ignored."""

    def __init__(self, value: object, place: str) -> None:
        """Raises InvalidImport when `value` is not an object."""
        if not isinstance(value, dict):
            raise InvalidImport(f"{place} must be an object, not {_kind(value)}.")
        self.place = place
        self._members: Mapping[str, Any] = value

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def raw(self, name: str) -> Any:  # JSON
        return self._members.get(name)

    def text(self, name: str) -> str | None:
        value = self.raw(name)
        if value is not None and not isinstance(value, str):
            raise self.wrong(name, "a text")
        return value

    def truth(self, name: str) -> bool:
        value = self.raw(name)
        if value is not None and not isinstance(value, bool):
            raise self.wrong(name, "true or false")
        return bool(value)

    def whole(self, name: str, least: int, most: int) -> int | None:
        value = self.raw(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise self.wrong(name, f"a whole number from {least} to {most}")
        return value

    def number(self, name: str, least: float, most: float) -> float | None:
        value = self.raw(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            raise self.wrong(name, f"a number from {least} to {most}")
        return float(value)

    def instant(self, name: str) -> datetime | None:
        """The time in a text, or in a number of seconds or milliseconds since 1970."""
        value = self.raw(name)
        if value is None:
            return None
        found = None
        if isinstance(value, str):
            found = read_text(value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            found = read_epoch(value)
        if found is None:
            raise self.wrong(name, "a time between 1970 and 2200")
        return found

    def items(self, name: str) -> list[Any]:
        value = self.raw(name)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.wrong(name, "a list")
        return value

    def object(self, name: str) -> "Members":
        """The object of that name; an empty one when it is missing."""
        value = self.raw(name)
        return Members({} if value is None else value, f"{self.place}, {name}")

    def objects(self, name: str) -> Mapping[str, "Members"]:
        """The objects within the object of that name, by their names."""
        inner = self.object(name)
        return {key: Members(value, f"{inner.place}, {key:.80}") for key, value in inner._members.items()}

    def wrong(self, name: str, wanted: str) -> InvalidImport:
        return InvalidImport(f"{self.place}: the member {name} must be {wanted}, not {_kind(self.raw(name))}.")


def _kind(value: object) -> str:
    """A short description of a value, without texts of persons."""
    if isinstance(value, bool | int | float):
        return f"{value!r:.40}"
    names = {dict: "an object", list: "a list", str: "this text", type(None): "null"}
    return names.get(type(value), type(value).__name__)


def conversations_in(file: IO[bytes]) -> Iterator[tuple[Members, bytes]]:
    """Each conversation with its bytes, one in memory at a time. Reading them raises InvalidImport."""
    if first_byte(file) == b"{":
        raw = file.read(MOST_BYTES + 1).removeprefix(MARK)
        yield Members(read_value(raw, "The file"), f"{_ITEM} 1"), raw
        return
    for number, raw in enumerate(array_items(file, _ITEM), start=1):
        place = f"{_ITEM} {number}"
        yield Members(read_value(raw, place), place), raw


def session_id_of(told: str | None, raw: bytes) -> str:
    """The id in the file if it is valid, else an id derived from the conversation's bytes, equal on each import."""
    try:
        return checked_session_id(told or "")
    except InvalidRequest:
        return str(uuid.uuid5(uuid.NAMESPACE_OID, hashlib.sha256(raw).hexdigest()))
