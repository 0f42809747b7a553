"""Typed access to the members of a JSON object in a file; errors name the position and the member."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from mnemoir.conversations.transfer.copies import InvalidImport
from mnemoir.conversations.transfer.instants import read_epoch, read_text


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
