"""Members of a JSON body, read with a check: the value in the type asked for, or InvalidRequest naming the field.

`field` is the path for people and programs, as in `messages[2].content`. A member that is absent or null gives the
default. Members nobody asks for are never looked at.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

from mnemoir.core.errors import InvalidRequest

Json = Mapping[str, Any]  # JSON is open by nature


def refuse(field: str, wanted: str, got: object) -> NoReturn:
    """Say what `field` must be and what it is."""
    raise InvalidRequest(f"{field} must be {wanted}, it is {kind_of(got)}.", field=field)


def kind_of(value: object) -> str:
    """What JSON calls a value of this type."""
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", type(None): "null or missing"}
    return names.get(type(value), "a number")


def as_object(value: object, field: str) -> Json:
    """`value`, if it is a JSON object."""
    if not isinstance(value, dict | Mapping):  # dict first: to ask an abstract class takes four times as long
        refuse(field, "an object", value)
    return value


def as_text(value: object, field: str) -> str:
    """`value`, if it is a string that UTF-8 can carry."""
    if not isinstance(value, str):
        refuse(field, "a string", value)
    if not value.isascii() and any(0xD800 <= ord(character) <= 0xDFFF for character in value):
        raise InvalidRequest(f"{field} holds half of a surrogate pair, which no text may hold.", field=field)
    return value


def as_list(value: object, field: str) -> Sequence[Any]:
    """`value`, if it is a JSON list."""
    if not isinstance(value, list):
        refuse(field, "a list", value)
    return value


def objects(value: object, field: str) -> Iterator[tuple[Json, str]]:
    """Each object of a list, with its own field path."""
    for n, item in enumerate(as_list(value, field)):
        where = f"{field}[{n}]"
        yield as_object(item, where), where


def text(body: Json, name: str, *, at: str = "") -> str | None:
    """A string member; None when there is none."""
    value = body.get(name)
    return None if value is None else as_text(value, at + name)


def number(body: Json, name: str, *, at: str = "") -> float | None:
    """A number member, whole or not; None when there is none."""
    value = body.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        refuse(at + name, "a number", value)
    return value


def integer(body: Json, name: str, *, at: str = "", least: int | None = None) -> int | None:
    """A whole number member, at least `least`; None when there is none."""
    value = number(body, name, at=at)
    if value is None:
        return None
    if value != value or value in (float("inf"), float("-inf")) or value != int(value):
        raise InvalidRequest(f"{at}{name} must be a whole number, it is {value}.", field=at + name)
    if least is not None and value < least:
        raise InvalidRequest(f"{at}{name} must be at least {least}, it is {int(value)}.", field=at + name)
    if abs(value) >= 2**63:
        raise InvalidRequest(f"{at}{name} is out of range.", field=at + name)
    return int(value)


def boolean(body: Json, name: str, *, at: str = "", default: bool = False) -> bool:
    """A boolean member."""
    value = body.get(name)
    if value is None:
        return default
    if not isinstance(value, bool):
        refuse(at + name, "true or false", value)
    return value


def texts(body: Json, name: str, *, at: str = "") -> tuple[str, ...]:
    """A member that is a string or a list of strings; () when there is none."""
    value = body.get(name)
    if value is None:
        return ()
    if isinstance(value, str):
        return (as_text(value, at + name),)
    return tuple(as_text(item, f"{at}{name}[{n}]") for n, item in enumerate(as_list(value, at + name)))


def own_name(body: Json, name: str, *, at: str = "") -> str | None:
    """A member that is the client's own name for something: a string, or a whole number; None when there is none."""
    value = body.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return None if value is None else as_text(value, at + name)
