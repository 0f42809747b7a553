"""The user's own name in front of a statement: for Alex "Alex works at Bosch" is compared as "User works at Bosch".

Whose statements are compared is known to a whole add or search, and to no single comparison; so the names hold for
all that is compared in it, also in threads. What is stored and shown stays as it came.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache

_NAME = re.compile(r"[^\W\d_]{2,}(?:[ .'-][^\W\d_]+)*")
_FRONT = re.compile(r"(?P<name>[^\W\d_][\w.-]*(?: [^\W\d_][\w.-]*){0,2}?)(?=(?:'s|’s)?\s+[^\W\dA-Z_])")
_names: ContextVar[frozenset[str]] = ContextVar("own names", default=frozenset())


@contextmanager
def speaking_as(names: Iterable[str]) -> Iterator[None]:
    """Let statements behind these names be the user's own while the block runs."""
    token = _names.set(_names.get() | {folded for name in names for folded in _spellings(name)})
    try:
        yield
    finally:
        _names.reset(token)


def as_of_user(statement: str) -> str:
    """The statement with "User" in place of the user's own name in front; another one as it is."""
    names = _names.get()
    return _as_of_user(statement, names) if names else statement


def is_own_name(name: str) -> bool:
    """True for a name of the user."""
    return name.casefold() in _names.get()


def name_in_front(statement: str) -> str:
    """The capitalised word or two with which a statement begins, if a word in small letters follows; else ""."""
    found = _FRONT.match(statement)
    return found["name"] if found and found["name"][:1].isupper() else ""


@lru_cache(maxsize=4096)
def _as_of_user(statement: str, names: Collection[str]) -> str:
    found = _FRONT.match(statement)
    if found is None or found["name"].casefold() not in names:
        return statement
    return f"User{statement[found.end() :]}"


def _spellings(name: str) -> Iterator[str]:
    """The name as it may stand before a verb: all of it, and the first one alone."""
    plain = " ".join(name.split())
    if _NAME.fullmatch(plain):
        yield plain.casefold()
        yield plain.partition(" ")[0].casefold()
