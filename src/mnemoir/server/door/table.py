"""The table of all routes: the one search for the route of a request, by its method and path alone.

Routes lie by the first two segments of their path. Of those, the method, the number of slashes, and what a path
begins and ends with leave a few whose pattern is tried, so no path takes long, however long it is. Where several
routes take a path, the one that was registered first is found.

A slash that came encoded is part of a name and ends none, for all routes alike.

The routes of a section are registered when a path below one of its beginnings is first asked for: most servers are
never asked for most of them, and importing all costs more than the rest of a start.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from typing import Any
from urllib.parse import unquote

from starlette.convertors import PathConvertor, StringConvertor
from starlette.routing import BaseRoute
from starlette.types import Receive, Scope, Send

from mnemoir.server.door.says import DeclaredRoute, Says

_FOUND = "mnemoir.found"
_NO_ROUTE = Says(right="any", query=())  # only a known caller learns which paths and methods there are
_NO_METHOD_OF_CLIENTS = replace(_NO_ROUTE, by_cookie=False)
_ENCODED_SLASH = re.compile("%2f", re.IGNORECASE)
_SLASH = "\udc2f"  # for an encoded one; nothing is ever decoded to it
_MOST_SEGMENTS = 12  # of a path that are told apart; no route has so many


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a request asks for: a `route`, or else the `methods` that others have on its path; () for no such path.

    `path` is the template of the route, else of the first one that has other methods; "" for no such path.
    """

    route: DeclaredRoute | None = None
    says: Says = _NO_ROUTE
    methods: Sequence[str] = ()
    path: str = ""
    match: re.Match[str] | None = None

    @property
    def path_params(self) -> dict[str, Any]:
        """The names in the path, decoded."""
        if self.route is None or self.match is None:
            return {}
        named = self.match.groupdict()
        if self.route.is_as_sent:
            return {name: unquote(value) for name, value in named.items()}
        return {name: value.replace(_SLASH, "/") for name, value in named.items()}

    @property
    def child_scope(self) -> Mapping[str, Any]:
        """What the scope of the request is to tell its route."""
        assert self.route is not None
        return {"route": self.route, "endpoint": self.route.endpoint, "path_params": self.path_params}


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Routes of one subject. Each lies below a beginning of `paths`: a first segment, or the first two.

    `module` has them in its `ROUTERS`; a subject with one router may have it as `router`.
    """

    module: str
    paths: Sequence[str]

    def routes(self) -> Iterable[BaseRoute]:
        """The routes in their order; imports the module. Raises TypeError for one that does not say what it is."""
        module: Any = import_module(self.module)
        routers = module.ROUTERS if hasattr(module, "ROUTERS") else (module.router,)
        return [route for router in routers for route in router.routes]


class Table:
    """All routes: those that are given, then those of each section, in the order of their registration."""

    def __init__(self, routes: Iterable[BaseRoute], sections: Sequence[Section] = ()) -> None:
        """Raises TypeError for a route that was not declared."""
        self._waiting: dict[str, list[int]] = {}  # sections that were not imported, by beginnings of their paths
        for number, section in enumerate(sections):
            for path in section.paths:
                self._waiting.setdefault(path, []).append(number)
        self._sections = sections
        self._entries = _entries_of(routes, 0)
        self._arrange()

    @cached_property
    def routes(self) -> Sequence[DeclaredRoute]:
        """All of them; imports every section."""
        self._register(range(len(self._sections)))
        return [entry.route for entry in self._entries]

    def _register_below(self, *paths: str) -> None:
        """Register the sections that a path may belong to, by its first two segments."""
        if self._waiting:
            self._register(self._waiting_for(*paths))

    def _waiting_for(self, *paths: str) -> set[int]:
        keys = [_key_of(path.split("/", _MOST_SEGMENTS)) for path in paths]
        beginnings = {beginning for first, second in keys for beginning in (first, f"{first}/{second}")}
        return {number for beginning in beginnings for number in self._waiting.get(beginning or "", ())}

    def _register(self, numbers: Iterable[int]) -> None:
        waiting = {number for found in self._waiting.values() for number in found}
        chosen = waiting.intersection(numbers)
        if not chosen:
            return
        for number in chosen:
            self._entries += _entries_of(self._sections[number].routes(), number + 1)
        left = {path: [one for one in found if one not in chosen] for path, found in self._waiting.items()}
        self._waiting = {path: found for path, found in left.items() if found}
        self._arrange()

    def _arrange(self) -> None:
        self._entries.sort(key=lambda entry: entry.number)
        entries = self._entries
        self._decoded = _Shelves([entry for entry in entries if not entry.route.is_as_sent])
        self._as_sent = _Shelves([entry for entry in entries if entry.route.is_as_sent])
        self._both = _Shelves(entries)
        self._known: dict[tuple[str, str], Found] = {}  # by methods and paths without names
        for entry in entries:
            path = entry.route.path
            # one that a section which waits may have, too, is not known yet: that section may come before
            if not entry.route.param_convertors and not self._waiting_for(path):
                self._known |= {(method, path): self._search(method, path, path) for method in entry.methods}

    def find(self, scope: Scope) -> Found:
        """The route of a request, whose path has been made plain, and which asks GET for HEAD."""
        method, path, raw = scope["method"], scope["path"], scope["raw_path"]
        sent = path
        if b"%" in raw:
            sent = raw.decode("ascii", "replace")
            path = decoded_path(sent)
        elif found := self._known.get((method, path)):
            return found
        self._register_below(path, sent)
        return self._search(method, path, sent)

    def _search(self, method: str, path: str, sent: str) -> Found:
        """The route of a path, which some match decoded, as `path`, and others as it was sent."""
        decoded = as_sent = _Asked(path)
        if sent != path:
            as_sent = _Asked(sent)
        entries = self._both.at(decoded)
        if decoded.key != as_sent.key:
            entries = sorted((*self._decoded.at(decoded), *self._as_sent.at(as_sent)), key=lambda entry: entry.number)
        for entry in entries:
            if method in entry.methods and (match := entry.match(decoded, as_sent)):
                return Found(route=entry.route, says=entry.route.says, path=entry.route.path, match=match)
        # many routes differ in their methods alone, and their pattern is tried once
        matches = {entry.shape: entry for entry in reversed(entries)}
        shapes = {shape for shape, entry in matches.items() if entry.match(decoded, as_sent)}
        taking = [entry for entry in entries if entry.shape in shapes]
        if not taking:
            return Found()
        counts_cookie = any(entry.route.says.by_cookie for entry in taking)
        return Found(
            says=_NO_ROUTE if counts_cookie else _NO_METHOD_OF_CLIENTS,
            methods=sorted(set().union(*(entry.methods for entry in taking))),
            path=taking[0].route.path,
        )


def decoded_path(sent: str) -> str:
    """A path decoded as routes match it: a slash that came encoded stays apart from those between names."""
    return unquote(_ENCODED_SLASH.sub(_SLASH, sent))


def _entries_of(routes: Iterable[BaseRoute], section: int) -> list["_Entry"]:
    return [_Entry(_declared_route(route), (section, number)) for number, route in enumerate(routes)]


def _declared_route(route: BaseRoute) -> DeclaredRoute:
    if not isinstance(route, DeclaredRoute) or not hasattr(route, "says"):
        raise TypeError(f"{route} does not say what it is. Register it by `Routes`.")
    return route


class _Asked:
    """One form of a path, taken apart as far as entries compare it."""

    __slots__ = ("has_line_feed", "key", "pieces", "slashes", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.slashes = text.count("/")
        self.pieces = text.split("/", _MOST_SEGMENTS)
        self.has_line_feed = "\n" in text
        self.key = _key_of(self.pieces)


class _Entry:
    """A route, with what tells cheaply that it does not match a path."""

    __slots__ = ("ends_open", "fixed", "key", "methods", "number", "route", "shape", "slashes", "tail")

    def __init__(self, route: DeclaredRoute, number: tuple[int, int]) -> None:
        self.route = route
        self.number = number
        self.methods = frozenset(route.methods or ()) - {"HEAD", "OPTIONS"}
        self.slashes = route.path.count("/")
        pieces = [None if piece.startswith("{") else piece for piece in route.path.split("/")]
        kinds = route.param_convertors.values()
        self.ends_open = any(isinstance(kind, PathConvertor) for kind in kinds)  # such a name may hold slashes
        assert len(pieces) <= _MOST_SEGMENTS
        assert not self.ends_open or len(kinds) == 1
        assert all(isinstance(kind, (StringConvertor, PathConvertor)) for kind in kinds)  # whose values are texts
        self.key = _key_of(pieces)
        self.tail = route.path.rpartition("}")[2]
        before = pieces[: pieces.index(None)] if self.ends_open else pieces
        self.fixed = [(place, piece) for place, piece in enumerate(before) if piece is not None and place > 2]
        self.shape = f"{route.is_as_sent} {re.sub('[?]P<[^>]+>', '', route.path_regex.pattern)}"

    def match(self, decoded: _Asked, as_sent: _Asked) -> re.Match[str] | None:
        """The match of the route's pattern with a path of its shelf, in the form that the route matches."""
        asked = as_sent if self.route.is_as_sent else decoded
        if self.ends_open:
            if asked.slashes < self.slashes or asked.has_line_feed or not asked.text.endswith(self.tail):
                return None
        elif asked.slashes != self.slashes:
            return None
        for place, piece in self.fixed:
            if asked.pieces[place] != piece:
                return None
        return self.route.path_regex.match(asked.text)


def _key_of(pieces: Sequence[str | None]) -> tuple[str | None, str | None]:
    """The first two segments of a path that was split at its slashes, "" for missing ones; None for a name."""
    first, second, *_ = *pieces[1:3], "", ""  # `OPTIONS *` has none
    return first, second


class _Shelves:
    """Entries by the first two segments of their paths."""

    def __init__(self, entries: Sequence[_Entry]) -> None:
        keys = {entry.key for entry in entries}
        self._of = {key: [one for one in entries if one.key in (key, (key[0], None))] for key in keys}

    def at(self, asked: _Asked) -> Sequence[_Entry]:
        """The entries whose paths may begin as this one does, in the order of their registration."""
        found = self._of.get(asked.key)
        return self._of.get((asked.key[0], None), ()) if found is None else found


def note_found(scope: Scope, found: Found) -> None:
    """Keep what was found in the scope of its request."""
    scope[_FOUND] = found


def found_in(scope: Scope) -> Found:
    """What was found for a request. Raises KeyError for one that did not come through the front."""
    found: Found = scope[_FOUND]
    return found


async def run_found(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer by the route that was found: an ASGI application for the place of a router."""
    found = found_in(scope)
    assert found.route is not None
    scope.update(found.child_scope)
    await found.route.handle(scope, receive, send)
