"""Checked readers for members of a JSON body: the value in the wanted type, or InvalidRequest naming the field.

`field` is the path for people and programs, as in `messages[2].content`. A member that is absent or null gives the
default.

Members that Mnemoir does not use are kept unchanged, and written to the same protocol again. A proxy that rebuilds
bodies from the members it knows loses all others. Here the others are collected, within limits, so that the writer of
the same protocol can add them again. They never replace a member that Mnemoir writes itself.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn, TypeGuard

import orjson

from mnemoir.core.errors import InvalidRequest
from mnemoir.core.messages import Extra, Route

Json = Mapping[str, Any]  # JSON is open by nature


def refuse(field: str, wanted: str, got: object) -> NoReturn:
    """Raise InvalidRequest with the wanted and the actual kind of `field`."""
    raise InvalidRequest(f"{field} must be {wanted}, it is {kind_of(got)}.", field=field)


def kind_of(value: object) -> str:
    """The JSON name of the value's type."""
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", type(None): "null or missing"}
    return names.get(type(value), "a number")


def as_object(value: object, field: str) -> Json:
    """`value`, if it is a JSON object."""
    if not is_object(value):
        refuse(field, "an object", value)
    return value


def is_object(value: object) -> TypeGuard[Json]:
    """True for a JSON object. Its class is asked first: checking an abstract one takes four times as long."""
    return value.__class__ is dict or isinstance(value, Mapping)


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


def object_text(value: Json, field: str) -> str:
    """An object as JSON text. Raises InvalidRequest for one of more levels than can be written."""
    try:
        return orjson.dumps(value).decode()
    except TypeError as exc:
        raise InvalidRequest(f"{field} has more than 254 levels. Send fewer.", field=field) from exc


def objects(value: object, field: str) -> Iterator[tuple[Json, str]]:
    """Each object of a list, with its field path."""
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


MOST_MEMBERS = 256  # of one object
LONGEST_NAME = 256  # characters
_BEYOND_64_BITS = 2.0**63

OWN_MEMBERS = frozenset({"memoryEnabled", "history", "parent_id", "user", "store", "metadata"})
"""Members of a request that are addressed to Mnemoir itself. They are used here, and sent to no model."""


def extra_of(body: Json, known: frozenset[str], route: Route) -> Extra | None:
    """The members of an answer whose names are not `known`; None where there are none."""
    members = unread(body, known)
    return None if members is None else Extra(route=route, members=members)


def unread(body: Json, known: frozenset[str]) -> Json | None:
    """The members whose names are not `known`, without the protocol they came by; None where there are none."""
    if known.issuperset(body):  # nearly always, and this runs for every piece of a stream
        return None
    return {name: value for name, value in body.items() if name not in known}


def asked_extra(body: Json, known: frozenset[str], route: Route, at: str = "") -> Extra | None:
    """The members of a request whose names are not `known`; `at` is the path of `body`, "" for the whole of it.

    Raises InvalidRequest for more than MOST_MEMBERS members, a name of more than LONGEST_NAME characters, or a whole
    number beyond 64 bits, which no JSON library here would write unchanged.
    """
    members = unread(body, known)
    if members is None:
        return None
    _check(members, at)
    return Extra(route=route, members=members)


def within(extra: Extra | None, name: str, inner: Extra | None) -> Extra | None:
    """`extra` with the members of an inner object, stored under `name`."""
    if inner is None:
        return extra
    return Extra(route=inner.route, members={**members_for(extra, inner.route), name: inner.members})


def members_for(extra: Extra | None, route: Route) -> Mapping[str, Any]:
    """The members to write to a server or client of `route`; none where they came by another protocol."""
    return extra.members if extra is not None and extra.route == route else {}


def merged_members(extra: Mapping[str, Any], body: Mapping[str, Any]) -> dict[str, Any]:
    """`body` with the extra members that it lacks; of two objects of one name the members are merged alike."""
    joined = {**extra, **body}
    for name in extra.keys() & body.keys():
        ours, theirs = body[name], extra[name]
        if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
            joined[name] = {**theirs, **ours}
    return joined


def _check(given: Mapping[str, Any], at: str) -> None:
    if len(given) > MOST_MEMBERS:
        raise InvalidRequest(
            f"{at or 'The body'} has {len(given)} members that Mnemoir does not know. Send at most {MOST_MEMBERS}.",
            field=at or None,
        )
    for name, value in given.items():
        if len(name) > LONGEST_NAME:
            raise InvalidRequest(
                f"{at}{name[:40]}… is a name of {len(name)} characters. Names may have {LONGEST_NAME}.",
                field=at or None,
            )
        if holds_number_beyond_64_bits(value):
            raise InvalidRequest(
                f"{at}{name} holds a number beyond 64 bits, which cannot be passed on as it came. Send a smaller.",
                field=at + name,
            )


def holds_number_beyond_64_bits(value: object) -> bool:
    """True for a value with a whole number that the JSON reader may have rounded."""
    return isinstance(value, float | dict | list) and any(map(_is_beyond_64_bits, _numbers(value)))


def _numbers(value: object) -> Iterator[float]:
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node
        elif isinstance(node, float):
            yield node


def _is_beyond_64_bits(number: float) -> bool:
    """True when the JSON reader may have rounded a whole number: those beyond 64 bits become floats."""
    return abs(number) >= _BEYOND_64_BITS and number.is_integer()
