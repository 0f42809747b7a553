"""What a request asks for beyond its route's name: nothing is done on a condition that the route does not know.

A condition that was ignored would make a request be about more than was meant, and one that deletes would delete all
of that. So each query parameter must be one that the route of our own declares (`says.py`); where a route is `exact`,
as every DELETE is, each member of its body must be, too, and no name in its path may be missing. Protocols of others
are not held to it.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mnemoir.core.errors import Conflict, InvalidRequest, TooLarge
from mnemoir.core.scope import Principal
from mnemoir.server.door.access import principal_of
from mnemoir.server.door.errors import failure
from mnemoir.server.door.request import (
    LONGEST_NAME,
    MOST_AT_ONCE,
    header,
    note_route,
    parse_json,
    query,
    query_pairs,
    quoted_name,
    read_body,
    repetition,
)
from mnemoir.server.door.says import Says
from mnemoir.server.door.scopes import PROJECT_ALIAS, TENANT_ALIAS, named_project, refuse_others
from mnemoir.server.door.table import Found

_BROKEN_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_IGNORED = ("_", "utm_")  # of caches and of counted links
# query parameters that name whose data a request is about, or which part of them; routes look at `user_id` and
# `project` themselves, and an empty field of a search form filters nothing
_SCOPE_NAMES = frozenset({"user", "from_user", "tenant", "agent_id", "app_id", "run_id", "conversation_id", "source"})
_SENT_PATH = "mnemoir.sent_path"


class UnknownParameter(InvalidRequest):
    """A condition that the route does not know; nothing was done."""

    code = "unknown_parameter"


def note_sent_path(scope: Scope, sent: bytes) -> None:
    """Keep the path as it was sent, before its slashes are collapsed."""
    scope[_SENT_PATH] = sent


def check_conditions(scope: Scope, found: Found) -> None:
    """Raise InvalidRequest for a name that is missing, for a query that the route does not know, and for what two
    readers would understand differently.

    Raises Forbidden for a tenant or project that is not the caller's.
    """
    _check_bytes(scope, found)
    if not found.says.is_own:
        if found.says.known_query:
            _check_query(scope, found.says)
        return
    if found.says.exact:
        _check_escapes(scope)
    if scope["method"] == "DELETE":
        _check_versions(scope)
    _check_names(scope, found)
    _check_query(scope, found.says)


def _check_bytes(scope: Scope, found: Found) -> None:
    """Raise InvalidRequest where bytes that are no text stand in a path with names: two such names would be one."""
    raw: bytes = scope["raw_path"]
    if not (raw.isascii() and b"%" not in raw) and found.path_params and not _is_text(raw):
        raise InvalidRequest(
            "The path holds bytes that are not UTF-8. Encode the name in it as UTF-8.", code="invalid_encoding"
        )


def _is_text(encoded: bytes) -> bool:
    """Whether a part of an address is UTF-8 once it is decoded."""
    try:
        unquote_to_bytes(encoded).decode()
    except UnicodeDecodeError:
        return False
    return True


def _check_escapes(scope: Scope) -> None:
    """Raise InvalidRequest for a percent sign that encodes nothing: readers keep it, or guess."""
    if _BROKEN_ESCAPE.search(scope["raw_path"]) or _BROKEN_ESCAPE.search(scope["query_string"]):
        raise InvalidRequest(
            "The address has a % that begins no encoded character, so nothing was done. Write it as %25.",
            code="invalid_encoding",
        )


def _check_versions(scope: Scope) -> None:
    """Raise Conflict for a header that names the version to be deleted: nothing that is deleted has one.

    `If-Match: *` names any, as the standard has it.
    """
    for name, any_version in ((b"if-match", "*"), (b"if-unmodified-since", None)):
        if header(scope, name) not in (None, any_version):
            raise Conflict(
                f"The header {name.decode('ascii').title()} names a version, and what this request deletes has none, "
                "so nothing was done. Leave the header out.",
                code="changed_meanwhile",
            )


def _check_names(scope: Scope, found: Found) -> None:
    """Raise InvalidRequest for a path with an empty name.

    It may remain of an empty variable, or of `.` and `..`, which clients resolve before they send: the path would
    then name a larger part than was meant, or something else.
    """
    if b"//" in scope[_SENT_PATH] and (found.says.exact or not _has_all_names(scope, found)):
        raise _missing_name(scope, "has an empty name between two slashes, so nothing was done")
    if scope["method"] == "DELETE" and not found.says.takes_slash:
        check_last_name(scope)


def _has_all_names(scope: Scope, found: Found) -> bool:
    """Whether one slash alone is before each name of the path, and between and behind what follows the first."""
    fixed, has_names, _ = found.path.partition("{")
    names = b"/" + scope["raw_path"].split(b"/", fixed.count("/"))[-1]
    sent: bytes = scope[_SENT_PATH].rstrip(b"/")
    return not has_names or (sent.endswith(names) and not sent.endswith(b"/" + names))


def check_last_name(scope: Scope) -> None:
    """Raise InvalidRequest for a DELETE that names nothing behind its last slash."""
    sent: bytes = scope[_SENT_PATH]
    if scope["method"] == "DELETE" and sent.endswith(b"/"):
        raise _missing_name(scope, "names nothing behind its last slash, so nothing was deleted")


def _missing_name(scope: Scope, told: str) -> InvalidRequest:
    is_delete, shown = scope["method"] == "DELETE", scope[_SENT_PATH].decode("ascii", "replace")[:200]
    advice = "Name what is to go; if it is all of this, leave the slash out." if is_delete else "Give the name."
    return InvalidRequest(f"{scope['method']} {shown} {told}. {advice}", code="missing_name")


def _check_query(scope: Scope, says: Says) -> None:
    if not _is_text(scope["query_string"]):
        raise InvalidRequest(
            "The query holds bytes that are not UTF-8. Encode its values as UTF-8.", code="invalid_encoding"
        )
    pairs = query_pairs(scope)
    sent = Counter(name for name, _ in pairs if not name.startswith(_IGNORED))
    known = says.query or ()
    aliases = (TENANT_ALIAS, PROJECT_ALIAS) if "project" in known else (TENANT_ALIAS,)
    for name, times in sent.items():
        if name not in known and name not in aliases:
            raise _unknown(f"The query parameter {quoted_name(name)}", name, known)
        if times > 1 and name not in says.lists:
            raise repetition(f"The query parameter {quoted_name(name)}", name, times)
    _check_scope_names(pairs)
    if "project" in known:
        named_project(scope)  # headers that name two are refused before the audit log asks which one it is
    if not sent.keys().isdisjoint(aliases):
        _check_aliases(scope, principal_of(scope))


def _check_scope_names(pairs: Sequence[tuple[str, str]]) -> None:
    """Raise InvalidRequest for a name without a character: it would mean everybody, or everything."""
    empty = next((name for name, value in pairs if name in _SCOPE_NAMES and not value.strip()), None)
    if empty is not None:
        told = f"{empty} is empty, so nothing was done. Name one, or leave the parameter out."
        raise InvalidRequest(told, code="validation_error", field=empty)


def _check_aliases(scope: Scope, caller: Principal) -> None:
    """Raise Forbidden for a tenant or a project that is not the caller's, and InvalidRequest for two of one kind."""
    for alias, own in ((TENANT_ALIAS, "tenant"), (PROJECT_ALIAS, "project")):
        named = query(scope, alias)
        if named is not None and query(scope, own) not in (None, named):
            raise InvalidRequest(
                f"{alias} and {own} name two of them, which are to be one. Send {own} alone.", field=alias
            )
    refuse_others(caller, query(scope, TENANT_ALIAS), query(scope, PROJECT_ALIAS))


@dataclass(frozen=True, slots=True)
class KnownMembers:
    """The application of an exact route, whose body holds only members that the route knows.

    A DELETE and a GET know none. An empty body, null and an object without members are as good as no body.
    """

    app: ASGIApp
    found: Found
    most_bytes: int

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        says = self.found.says
        if says.reads_body:
            await self.app(scope, receive, send)
            return
        try:
            body = await read_body(scope, receive, self.most_bytes)
            if len(body) > MOST_AT_ONCE:
                await asyncio.to_thread(check_members, body, says.members)
            else:
                check_members(body, says.members)
        except (InvalidRequest, TooLarge) as exc:
            note_route(scope, self.found.path)
            await failure(scope, exc)(scope, receive, send)
            return
        await self.app(scope, _Again(body, receive).receive, send)


def check_members(body: bytes, known: Sequence[str]) -> None:
    """Raise UnknownParameter for a body with another member than the known ones, or in a form that tells of none.

    Where members are known, a body that is no object is left to the reader of the body.
    """
    if not body.strip():
        return
    try:
        told = parse_json(body)  # a member that is there twice is found by the reader of the body
    except InvalidRequest:
        if known:
            raise
        told = body
    if isinstance(told, dict):
        for name in told:
            if name not in known:
                raise _unknown(f"The member {quoted_name(name)} of the body", name, known)
    elif told is not None and not known:
        raise UnknownParameter("This request takes no body, so nothing was done. Leave the body out.", field="body")


class _Again:
    """A body that was read, to be received once more; then what else comes."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def receive(self) -> Message:
        if self._body is None:
            return await self._receive()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}


def _unknown(what: str, name: str, known: Sequence[str]) -> UnknownParameter:
    told = f"It knows {', '.join(known)}." if known else "It knows none."
    return UnknownParameter(
        f"{what} is not known here, so nothing was done. {told}", field=name[:LONGEST_NAME] or "query"
    )
