"""What becomes of one member of a client's request on its way to a model, and how a test sees it.

Two requests are compared: a plain one, and the same with the member. What a model's server gets more, or less, with
the second one is the fate of the member; a name that the answer's header tells is part of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Fate:
    """`word` is what the documentation says; `changes` are the members that the model's server gets with it.

    `changes` of None are those the client gave, as they came. `dropped` are the names that the answer tells, and
    `refused` is what a 400 names. A request that goes on raw reaches `path` as the client sent it.
    """

    word: str
    changes: Mapping[str, Any] | None = field(default_factory=dict)
    dropped: tuple[str, ...] = ()
    refused: str = ""
    path: str = ""


SAME = Fate(word="passed", changes=None)
USED = Fate(word="used here")


def to(as_name: str = "", /, **changes: Any) -> Fate:
    """Translated: the model's server gets these members instead; `as_name` is how the documentation spells them."""
    return Fate(word=as_name or ", ".join(f"`{name}`" for name in changes), changes=changes)


def dropped(*names: str, **changes: Any) -> Fate:
    """Not sent, and told by these names; `changes` is what is left of what the client gave."""
    return Fate(word="dropped", changes=changes, dropped=names)


def refused(member: str) -> Fate:
    """400, naming the member."""
    return Fate(word="refused", refused=member)


def raw(path: str) -> Fate:
    """Passed with the whole request, to this route of the model's server."""
    return Fate(word="passed, raw", changes=None, path=path)


@dataclass(frozen=True, kw_only=True)
class Row:
    """One member of a request: its name as the documentation and the header spell it, and what the client gives.

    `fates` holds what becomes of it, by the names of the servers in `tests/fidelity/conftest.py`.
    """

    name: str
    given: Json
    fates: Mapping[str, Fate]


def expected(fate: Fate, row: Row, plain: Json) -> Json:
    """The body that a model's server must get, where `plain` is what it gets without the member."""
    changes = row.given if fate.changes is None else fate.changes
    return {name: _joined(plain.get(name), changes.get(name, plain.get(name))) for name in {**plain, **changes}}


def _joined(given: object, changed: object) -> object:
    """Settings of one object join."""
    return {**given, **changed} if isinstance(given, dict) and isinstance(changed, dict) else changed
