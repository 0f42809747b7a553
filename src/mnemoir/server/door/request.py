"""One request: its visit record, its headers and query, and its body.

The visit is kept in the ASGI scope. A body is read within a limit, also one that comes compressed (`encodings`), and
parsed as JSON with any Content-Type.
"""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from time import perf_counter
from typing import Any
from urllib.parse import parse_qsl

import orjson
from starlette.types import Receive, Scope

from mnemoir.core.errors import InvalidRequest, TooLarge
from mnemoir.core.ids import new_request_id
from mnemoir.core.text import is_utf8
from mnemoir.server.door.encodings import TooMuch, decode_body, encodings_of
from mnemoir.wire.second_reading import with_whole_characters

ASSETS = "/assets"  # the route of all files of the web UI
_KEY = "mnemoir.visit"
_ROUTE = "mnemoir.route"
_HEADERS = "mnemoir.headers"
_QUERY = "mnemoir.query"
_MARK = b"\xef\xbb\xbf"  # programs on Windows begin a file with it
_TEXTS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"')
LONGEST_NAME = 64  # in a message
MOST_AT_ONCE = 64 * 1024  # bytes of a body that are looked at without a thread


@dataclass(slots=True, kw_only=True)
class Visit:
    """State of one request. `started` is on the clock of perf_counter; `left`: the client left before its answer.

    `run_id` is that of the workflow run it started, "" for none; `headers` are some more of its answer.
    """

    request_id: str = field(default_factory=new_request_id)
    started: float = field(default_factory=perf_counter)
    left: bool = False
    run_id: str = ""
    headers: Sequence[tuple[bytes, bytes]] = ()


def begin_visit(scope: Scope) -> Visit:
    """A new visit, kept in the scope."""
    visit = Visit()
    scope[_KEY] = visit
    return visit


def visit_of(scope: Scope) -> Visit:
    """The visit kept in this scope."""
    visit = scope.get(_KEY)
    return visit if isinstance(visit, Visit) else begin_visit(scope)


def note_route(scope: Scope, route: str) -> None:
    """Store the template of the route that took the request."""
    scope[_ROUTE] = route


def route_of(scope: Scope) -> str:
    """The template of the route that took the request, as routers note it; `unmatched` for none."""
    return str(scope.get(_ROUTE) or getattr(scope.get("route"), "path", None) or "unmatched")


def header(scope: Scope, name: bytes) -> str | None:
    """The first header of that (lower case) name, trimmed; None when there is none."""
    found: Mapping[bytes, bytes] | None = scope.get(_HEADERS)
    value = (first_headers(scope) if found is None else found).get(name)
    return None if value is None else value.decode("latin-1").strip()


def first_headers(scope: Scope) -> Mapping[bytes, bytes]:
    """The first header of each (lower case) name, as it was sent. A chat reads ten of them."""
    found: Mapping[bytes, bytes] | None = scope.get(_HEADERS)
    if found is None:
        found = scope[_HEADERS] = dict(reversed(scope["headers"]))
    return found


def one_header(scope: Scope, *names: bytes) -> str | None:
    """The value of the headers of these (lower case) names, trimmed, as `name_in`; None when there is none.

    Raises InvalidRequest where they differ: readers differ in which one counts.
    """
    if first_headers(scope).keys().isdisjoint(names):
        return None
    sent = {value.strip(): name for name, value in scope["headers"] if name in names}
    if len(sent) > 1:
        named = " and ".join(sorted({name.decode("ascii") for name in sent.values()}))
        raise InvalidRequest(
            f"The headers {named} have {len(sent)} values that differ. Send one.", code="several_headers"
        )
    return name_in(next(iter(sent)))


def name_in(value: bytes) -> str:
    """A name as a header has it, trimmed: UTF-8 where that is valid, so that it is as in a body, else Latin-1."""
    try:
        return value.decode().strip()
    except UnicodeDecodeError:
        return value.decode("latin-1").strip()


def query(scope: Scope, name: str) -> str | None:
    """The last query parameter of that name; None when there is none."""
    if not scope["query_string"]:  # as in nearly every chat
        return None
    return next((value for key, value in reversed(query_pairs(scope)) if key == name), None)


def query_pairs(scope: Scope) -> list[tuple[str, str]]:
    """All query parameters as they follow each other, decoded."""
    found: list[tuple[str, str]] | None = scope.get(_QUERY)
    if found is None:
        sent = scope["query_string"]
        found = parse_qsl(sent.decode("latin-1"), keep_blank_values=True) if sent else []
        scope[_QUERY] = found
    return found


DEEPEST = 100  # levels; any value read here must be writable again, and orjson writes 254


class ClientLeft(Exception):
    """The client disconnected; no answer can be sent."""


async def read_body(scope: Scope, receive: Receive, most_bytes: int) -> bytes:
    """The whole body, decoded, which may have `most_bytes` as it comes and as it is read.

    Raises TooLarge, before reading when Content-Length is sent; ClientLeft; UnsupportedEncoding, before reading; and
    InvalidRequest for a body that is not encoded as it says.
    """
    encodings = encodings_of(scope)
    announced = header(scope, b"content-length")
    if announced is not None and announced.isdecimal() and int(announced) > most_bytes:
        raise _too_large(most_bytes)
    pieces: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientLeft
        piece = message.get("body", b"")
        size += len(piece)
        if size > most_bytes:
            raise _too_large(most_bytes)
        pieces.append(piece)
        if not message.get("more_body", False):
            body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
            return await _decoded_body(body, encodings, most_bytes) if encodings and body else body


async def _decoded_body(body: bytes, encodings: Sequence[str], most_bytes: int) -> bytes:
    try:
        return await asyncio.to_thread(decode_body, body, encodings, most_bytes)
    except TooMuch:
        raise _too_large(most_bytes) from None


async def read_json(scope: Scope, receive: Receive, most_bytes: int) -> Any:
    """The body as JSON. Raises InvalidRequest (`invalid_json`) too."""
    return parse_json(await read_body(scope, receive, most_bytes))


async def read_model_json(scope: Scope, receive: Receive, most_bytes: int) -> tuple[Any, Sequence[str]]:
    """The body of a request to a model as JSON, and what was odd about it.

    Half of a surrogate pair is read as U+FFFD, as model servers do. Raises InvalidRequest (`invalid_json`) too.
    """
    body = await read_body(scope, receive, most_bytes)
    try:
        return parse_json(body), ()
    except InvalidRequest:
        whole = with_whole_characters(body)
        if whole == body:
            raise
        return parse_json(whole), ("Half of a surrogate pair in the request was read as U+FFFD.",)


def parse_json(body: bytes) -> Any:
    """`body` as JSON, with or without a byte order mark.

    Raises InvalidRequest (`invalid_json`) for anything else, or for too deep a nesting.
    """
    try:
        parsed = orjson.loads(body.removeprefix(_MARK))
    except orjson.JSONDecodeError as exc:
        raise _not_json(body, exc) from None
    # n levels need at least n brackets, so nearly every body is accepted without the walk
    if body.count(b"[") + body.count(b"{") > DEEPEST and _is_deeper(parsed, DEEPEST):
        raise InvalidRequest(f"The body is nested more than {DEEPEST} levels deep.", code="invalid_json")
    return parsed


def parse_own_json(body: bytes) -> Any:
    """The body of a route of our own as JSON, in which each member of an object is there once.

    Readers differ in which of two counts. Raises InvalidRequest (`repeated_parameter`) too.
    """
    parsed = parse_json(body)
    sent = _TEXTS.sub(b"", body).count(b":")  # outside of texts there is a colon for each member
    if sent and sent != _members_in(parsed):
        json.loads(body.removeprefix(_MARK), object_pairs_hook=_each_once)
    return parsed


def odd_place(body: bytes) -> str:
    """Where JSON that `parse_json` refuses has half of a surrogate pair or lies too deep: names joined by dots.

    At most four of them; "" where it is something else.
    """
    try:
        nodes: list[tuple[tuple[str, ...], Any]] = [((), json.loads(body.removeprefix(_MARK)))]
    except (ValueError, RecursionError):
        return ""
    while nodes:
        place, node = nodes.pop()
        if len(place) > DEEPEST or (isinstance(node, str) and not is_utf8(node)):
            return ".".join(place[:4]).encode("utf-8", "replace").decode()
        pairs = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        for name, child in pairs:
            nodes += [((*place, str(name)), child), (place, name)]  # the name is a text of its place
    return ""


def repetition(what: str, name: str, times: int) -> InvalidRequest:
    """The error for a name that a request has several times."""
    told = f"{what} is there {times} times, so nothing was done. Send it once."
    return InvalidRequest(told, code="repeated_parameter", field=name[:LONGEST_NAME])


def quoted_name(name: str) -> str:
    """A name out of a request, as messages quote it."""
    return repr(name[:LONGEST_NAME])


def _members_in(value: object) -> int:
    """How many members all objects within a value have together."""
    nodes: list[Any] = [[value]]
    count = 0
    while nodes:
        node = nodes.pop()
        if isinstance(node, dict):
            count += len(node)
            node = node.values()
        nodes += [child for child in node if isinstance(child, (dict, list))]
    return count


def _each_once(pairs: Sequence[tuple[str, object]]) -> None:
    """Raise InvalidRequest for an object with a member that is there twice."""
    for name, times in Counter(name for name, _ in pairs).items():
        if times > 1:
            raise repetition(f"The member {quoted_name(name)} of the body", name, times)


def _not_json(body: bytes, exc: orjson.JSONDecodeError) -> InvalidRequest:
    try:
        body.decode()
    except UnicodeDecodeError as wrong:
        return InvalidRequest(
            f"The body is not UTF-8: its byte {wrong.start} begins no character. Send JSON in UTF-8.",
            code="invalid_json",
        )
    place = f"line {exc.lineno}, column {exc.colno}"
    return InvalidRequest(f"The body is not valid JSON: {exc.msg} ({place}).", code="invalid_json")


def _is_deeper(value: object, levels: int) -> bool:
    objects = [value] if isinstance(value, dict) else []
    lists = [value] if isinstance(value, list) else []
    for _ in range(levels):
        children = [*chain.from_iterable(map(dict.values, objects)), *chain.from_iterable(lists)]
        kinds = {*map(type, children)}
        objects = [child for child in children if child.__class__ is dict] if dict in kinds else []
        lists = [child for child in children if child.__class__ is list] if list in kinds else []
        if not objects and not lists:
            return False
    return True


def _too_large(most_bytes: int) -> TooLarge:
    return TooLarge(f"The request body is larger than {most_bytes} bytes. Send less, or raise the server's limit.")
