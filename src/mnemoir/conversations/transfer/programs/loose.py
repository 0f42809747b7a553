"""Access to JSON of other programs, which write broken values themselves.

What has another type than expected counts as missing, so that one odd member does not keep a chat out; only where
somebody's words are looked for, they are found in whatever they were put into.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from mnemoir.conversations.transfer.members import read_epoch, read_text
from mnemoir.core.clock import utc_now
from mnemoir.core.conversations import naive_utc

_NUMBER = re.compile(r"\d{9,16}(?:\.\d{1,12})?", re.ASCII)  # seconds or milliseconds
_CLOCKS_DIFFER = timedelta(minutes=5)


class Loose:
    """A JSON object; an empty one in place of any other value. Never raises."""

    __slots__ = ("_members",)

    def __init__(self, value: object) -> None:
        self._members: Mapping[str, Any] = value if isinstance(value, dict) else {}

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __bool__(self) -> bool:
        return bool(self._members)

    def raw(self, name: str) -> Any:  # JSON
        return self._members.get(name)

    def text(self, *names: str) -> str:
        """The first of the members that is a text with characters; "" for none."""
        found = (self._members.get(name) for name in names)
        return next((value for value in found if isinstance(value, str) and value), "")

    def title(self, *names: str) -> str:
        """The same in one line; where none is a text, the words in them."""
        return " ".join((self.text(*names) or self.words(*names)).split())

    def name(self, *names: str) -> str | None:
        """The first of the members that is a text or a number, as a text; None for none."""
        found = (self._members.get(name) for name in names)
        told = (str(value) for value in found if isinstance(value, str | int) and not isinstance(value, bool))
        return next(filter(None, told), None)

    def words(self, *names: str) -> str:
        """All words in the members, whatever they are."""
        return words_in([self._members.get(name) for name in names])

    def flag(self, name: str) -> bool:
        return self._members.get(name) is True

    def number(self, name: str) -> int | None:
        value = self._members.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def instant(self, *names: str) -> datetime | None:
        """The time in the first of the members that has one: a text, or seconds or milliseconds since 1970."""
        return next(filter(None, (instant_of(self._members.get(name)) for name in names)), None)

    def object(self, name: str) -> "Loose":
        return Loose(self._members.get(name))

    def values(self, name: str) -> list[Any]:
        """The values of a list, or of an object that is in its place."""
        value = self._members.get(name)
        if isinstance(value, dict):
            return list(value.values())
        return value if isinstance(value, list) else []

    def objects(self, name: str) -> list["Loose"]:
        """Those of these values that are objects."""
        return [Loose(value) for value in self.values(name) if isinstance(value, dict)]

    def named_objects(self, name: str) -> Iterator[tuple[str, "Loose"]]:
        """The objects within an object by their names, or within a list that is in its place by their ids."""
        value = self._members.get(name)
        if isinstance(value, dict):
            yield from ((key, Loose(inner)) for key, inner in value.items())
        elif isinstance(value, list):
            yield from ((Loose(inner).name("id") or f"{at}", Loose(inner)) for at, inner in enumerate(value))


def words_in(value: object) -> str:
    """All texts and numbers in a JSON value, a line each."""
    found: list[str] = []
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict | list):
            waiting += reversed([*(one.values() if isinstance(one, dict) else one)])
        elif isinstance(one, str | int | float) and not isinstance(one, bool):
            found.append(str(one))
    return "\n".join(filter(None, found))


def instant_of(value: object) -> datetime | None:
    """The time in a text, or in seconds or milliseconds since 1970, as a text too; None for none."""
    if isinstance(value, str):
        return until_now(read_epoch(float(value)) if _NUMBER.fullmatch(value) else read_text(value))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return until_now(read_epoch(value))
    return None


def until_now(instant: datetime | None) -> datetime | None:
    """The time; None for one of the future, at which nothing can have been said."""
    return None if instant is None or instant > naive_utc(utc_now()) + _CLOCKS_DIFFER else instant
