"""Members of a JSON body that Mnemoir does not use: kept as they came, and written to the same protocol again.

A proxy that rebuilds bodies from the members it knows loses all others. Here the others are collected, within limits,
so that the writer of the same protocol can put them back. They never replace a member that Mnemoir writes itself.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from mnemoir.core.errors import InvalidRequest
from mnemoir.core.messages import Extra, Route
from mnemoir.wire.members import Json

MOST_MEMBERS = 256  # of one object
LONGEST_NAME = 256  # characters
_BEYOND_64_BITS = 2.0**63

OWN_MEMBERS = frozenset({"memoryEnabled", "history", "parent_id", "user", "store", "metadata"})
"""Members of a request that mean something to Mnemoir itself. They are used here, and sent to no model."""


def extra_of(body: Json, known: frozenset[str], route: Route) -> Extra | None:
    """The members of an answer whose names are not `known`; None where there are none."""
    members = unread(body, known)
    return None if members is None else Extra(route=route, members=members)


def unread(body: Json, known: frozenset[str]) -> Json | None:
    """The members themselves, without the protocol they came by."""
    if known.issuperset(body):  # nearly always, and this is asked of every piece of a stream
        return None
    return {name: value for name, value in body.items() if name not in known}


def asked_extra(body: Json, known: frozenset[str], route: Route, at: str = "") -> Extra | None:
    """The same of a request; `at` is the path of `body`, "" for the whole of it.

    Raises InvalidRequest for more than MOST_MEMBERS members, a name of more than LONGEST_NAME characters, or a whole
    number beyond 64 bits, which no JSON library here would write as it came.
    """
    members = unread(body, known)
    if members is None:
        return None
    _check(members, at)
    return Extra(route=route, members=members)


def within(extra: Extra | None, name: str, inner: Extra | None) -> Extra | None:
    """`extra` with the members of an inner object, which stand in it under `name`."""
    if inner is None:
        return extra
    return Extra(route=inner.route, members={**members_for(extra, inner.route), name: inner.members})


def members_for(extra: Extra | None, route: Route) -> Mapping[str, Any]:
    """The members to write to a server or client of `route`; none where they came by another protocol."""
    return extra.members if extra is not None and extra.route == route else {}


def merged(extra: Mapping[str, Any], body: Mapping[str, Any]) -> dict[str, Any]:
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
        if isinstance(value, float | dict | list) and any(map(_is_beyond_64_bits, _numbers(value))):
            raise InvalidRequest(
                f"{at}{name} holds a number beyond 64 bits, which cannot be passed on as it came. Send a smaller.",
                field=at + name,
            )


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
    """Whether the JSON reader may have rounded a whole number: those beyond 64 bits become floats."""
    return abs(number) >= _BEYOND_64_BITS and number.is_integer()
