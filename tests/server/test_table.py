"""The one search for a route: what is found for a path, and that no path takes long."""

import copy
import re
from collections.abc import Sequence
from itertools import chain
from typing import cast
from urllib.parse import quote, unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mnemoir.server.app import _DIRECT, _SECTIONS, TABLE
from mnemoir.server.door.says import PlainRoute, declare, says
from mnemoir.server.door.table import Found, Section, Table, decoded_path
from tests.narrowing import present

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
SEGMENTS = sorted({piece for route in TABLE.routes for piece in route.path.split("/") if "{" not in piece})
LONG = 8 * 1024


def found_at(method: str, sent: str, table: Table = TABLE) -> Found:
    """What is found for a path as it is sent."""
    return table.find({"method": method, "path": unquote(sent), "raw_path": sent.encode()})


def looked_through(method: str, sent: str) -> tuple[str, list[str]]:
    """The template of the first of all routes that takes a request, or the methods of those that take its path."""
    decoded = decoded_path(sent)
    taking = [route for route in TABLE.routes if route.path_regex.match(sent if route.is_as_sent else decoded)]
    found = next((route.path for route in taking if method in present(route.methods)), "")
    methods = set[str]().union(*(present(route.methods) for route in taking)) - {"HEAD"}
    return found, [] if found else sorted(methods)


# the five holes that rules beside the router once had, and their kind: each path, what it is, and what it is not
HOLES = [
    # a line feed behind a path was another path for the rules alone
    ("POST", "/api/keys%0A", ""),
    ("POST", "/api/subjects/mira/erase%0A", ""),
    ("POST", "/v1/chat/completions%0A", ""),
    ("DELETE", "/api/memories/a%0Ab", ""),
    # an encoded slash is part of a name, and ends none
    ("DELETE", "/api%2Fmemories", ""),
    ("DELETE", "/api/memories%2f", ""),
    ("DELETE", "/api/memories%2Fall", ""),
    ("DELETE", "/api/memories/%2F", "/api/memories/{memory_id:path}"),
    ("GET", "/api/memories/a%2Fhistory", "/api/memories/{user_id:path}"),
    ("POST", "/api/memories/a%2Frestore", ""),
    ("POST", "/api/memories/proposals%2Frefuse", ""),
    ("DELETE", "/api/keys%2Fmine", ""),
    ("GET", "/api/auth%2Fclients", ""),
    ("GET", "/api/runs%2Flive", ""),
    ("POST", "/api/conversations%2Fprune", ""),
    ("PUT", "/api/holds/a%2Fexport", "/api/holds/{user_id}"),
    ("POST", "/api/subjects/a%2Fexport/export", "/api/subjects/{user_id}/export"),
    # an id that is the name of a route
    ("PATCH", "/api/memories/search", "/api/memories/{memory_id:path}"),
    ("DELETE", "/api/memories/settings", "/api/memories/{memory_id:path}"),
    ("DELETE", "/api/conversations/%73earch", "/api/conversations/{id:conversation}"),
    ("GET", "/api/conversations/search/search", ""),
    # a letter that is encoded
    ("GET", "/api/%65xport", "/api/export"),
    ("GET", "/api/runs/l%69ve", "/api/runs/live"),
    ("GET", "/api/auth/%63lients", "/api/auth/clients"),
    # an id that holds slashes
    ("GET", "/api/discussions/trip%2Fday%2Fone/search", "/api/discussions/{id}/search"),
    ("GET", "/api/discussions/trip/day/one/search", ""),
    ("DELETE", "/api/discussions/trip%2Fmemories%2Fkey", "/api/discussions/{id}"),
]


def test_a_path_is_one_route_for_all_that_stands_in_front_of_it():
    for method, sent, template in HOLES:
        found = found_at(method, sent)
        assert (found.route.path if found.route else "", method, sent) == (template, method, sent)
        assert found.says == (found.route.says if found.route else Found().says)


def test_a_method_that_no_route_has_finds_the_methods_of_the_path_and_a_path_that_none_has_finds_nothing():
    assert found_at("PUT", "/api/keys").methods == ["GET", "POST"]
    assert found_at("OPTIONS", "/api/conversations/talk").methods == ["DELETE", "GET", "PATCH"]
    for sent in ("/api/nothing", "/nothing", "/", "*", "/api/auth/nothing"):
        assert found_at("TRACE", sent).route is None
        assert found_at("TRACE", sent).methods == (["GET"] if sent == "/" else ())


def test_names_are_decoded_once():
    assert found_at("GET", "/api/conversations/a%2Fb%2525").path_params == {"id": "a/b%25"}
    assert found_at("GET", "/api/memories/a%2Fb%2525").path_params == {"user_id": "a/b%25"}
    assert found_at("GET", "/api/memories/a%2fb/c%2F/details").path_params == {"memory_id": "a/b/c/"}


def test_where_several_routes_take_a_path_the_first_one_registered_is_found():
    overlapping = 0
    for route in TABLE.routes:
        for method in present(route.methods) - {"HEAD"}:
            sent = re.sub(r"\{[^}]+\}", "mira", route.path)
            found = found_at(method, sent)
            assert (present(found.route).path, []) == looked_through(method, sent)
            overlapping += found.route is not route
    assert overlapping == 0  # no route is hidden behind others


@st.composite
def targets(draw) -> str:
    """Paths like those of routes: their segments in any order, with odd names between them."""
    odd = st.text(st.sampled_from("aé/%\n.;: searchlivexport"), max_size=8).map(lambda text: quote(text, safe=";:."))
    pieces = draw(st.lists(st.one_of(st.sampled_from(SEGMENTS), odd, st.just("%73earch")), min_size=1, max_size=7))
    first = draw(st.sampled_from(["/api/memories/", "/api/conversations/", "/api/discussions/", "/api/", "/"]))
    return (first + "/".join(pieces)).rstrip("/") or "/"


@given(st.sampled_from(METHODS), targets())
def test_the_search_finds_what_a_look_through_all_routes_finds(method, sent):
    found = found_at(method, sent)
    assert (found.route.path if found.route else "", list(found.methods)) == looked_through(method, sent)


class Counting:
    """A pattern that counts how often it is tried, and how many characters it was tried on."""

    def __init__(self, pattern: re.Pattern[str], tried: list[str]) -> None:
        self.pattern = pattern.pattern
        self._match = pattern.match
        self._tried = tried

    def match(self, text: str) -> re.Match[str] | None:
        self._tried.append(self.pattern)
        return self._match(text)


def counting_table() -> tuple[Table, list[str]]:
    """A table of the same routes, and the patterns that it has tried."""
    tried: list[str] = []
    routes = [copy.copy(route) for route in TABLE.routes]
    for route in routes:
        route.path_regex = cast(re.Pattern[str], Counting(route.path_regex, tried))
    table = Table(routes)
    tried.clear()
    return table, tried


def test_finding_a_route_tries_few_patterns_whatever_the_path_and_however_long():
    table, tried = counting_table()
    templates = {route.path_format for route in TABLE.routes if "{" in route.path_format}
    long = ["a" * LONG, "a/" * (LONG // 2), "%2F" * (LONG // 3), "%0A" * (LONG // 3), "history/" * (LONG // 8)]
    for template in sorted(templates):
        for name in long:
            sent = re.sub(r"\{\w+\}", name, template, count=1)
            for method in ("GET", "PUT", "OPTIONS"):
                found_at(method, sent, table)
                assert len(tried) <= 3, (method, template, name[:9], tried)
                tried.clear()
    found_at("POST", "/v1/chat/completions", table)
    assert tried == []  # the path of a chat is looked up


def test_a_route_that_was_not_declared_does_not_come_into_the_table():
    with pytest.raises(TypeError, match="/hidden"):
        Table([*TABLE.routes, Route("/hidden", lambda request: None)])


def test_the_routes_of_a_section_lie_below_its_paths():
    for section in _SECTIONS:
        beginnings = set(section.paths)
        routes = cast(Sequence[Route], section.routes())
        for route in routes:
            first, second, *_ = *route.path.split("/")[1:3], ""
            assert beginnings & {first, f"{first}/{second}"}, (section.module, route.path)
        used = {"/".join(route.path.split("/")[1:3]) for route in routes}
        assert all(any(one == path or one.startswith(f"{path}/") for one in used) for path in beginnings)


def test_a_section_is_imported_when_a_path_of_it_is_first_asked_for(monkeypatch):
    asked: list[str] = []

    def routes(section: Section) -> list[Route]:
        asked.append(section.module)
        return []

    monkeypatch.setattr(Section, "routes", routes)
    sections = [Section(module="people", paths=("api/people",)), Section(module="docs", paths=("docs", "api/people"))]
    table = Table([], sections)
    found_at("GET", "/api/peoples/people", table)
    assert asked == []
    found_at("GET", "/docs/a", table)
    found_at("GET", "/docs", table)
    assert asked == ["docs"]
    found_at("GET", "/api%2Fx/people", table)
    found_at("GET", "/ap%69/people/1", table)
    assert asked == ["docs", "people"]


def test_a_section_that_comes_before_is_imported_for_a_path_that_a_later_one_names_whole(monkeypatch):
    @says("read", query=())
    async def answer(request: Request) -> Response:
        return Response()

    there = {"people": ["/api/people/{id}"], "files": ["/api/files", "/api/people/new"]}
    made = {name: [PlainRoute(path, answer, methods=["GET"]) for path in paths] for name, paths in there.items()}
    for route in chain.from_iterable(made.values()):
        declare(route)
    monkeypatch.setattr(Section, "routes", lambda section: made[section.module])
    sections = [
        Section(module="people", paths=("api/people",)),
        Section(module="files", paths=("api/files", "api/people")),
    ]
    table = Table([], sections)
    assert found_at("GET", "/api/files", table).path == "/api/files"
    assert found_at("GET", "/api/people/new", table).path == "/api/people/{id}"


def test_a_table_finds_the_same_before_and_after_all_sections_are_imported():
    for route in TABLE.routes:
        fresh = Table(_DIRECT, _SECTIONS)
        for method in present(route.methods) - {"HEAD"}:
            sent = re.sub(r"\{[^}]+\}", "mira", route.path)
            assert found_at(method, sent, fresh).path == found_at(method, sent).path
            assert found_at("TRACE", sent, fresh) == found_at("TRACE", sent)
