"""Requests in the audit log: acts, as routes say that they are some, and refusals.

The making and ending of keys is written down where it is done.
"""

from collections.abc import Sequence

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mnemoir.access.audit import Audit
from mnemoir.core.errors import StorageUnavailable
from mnemoir.core.scope import acting
from mnemoir.server.door.access import has_wrong_key
from mnemoir.server.door.errors import failure
from mnemoir.server.door.request import query
from mnemoir.server.door.table import found_in

_LONGEST_TARGET = 500
REFUSED = "refused"
_TOLD = "mnemoir.refusal_told"


def is_counted(scope: Scope, status: int) -> bool:
    """Whether the log counts a refusal: for want of a key or a right, for a wrong key, or for too many of these."""
    return has_wrong_key(scope) or status in (401, 403) or (status == 429 and not acting.get().principal.key)


def note_refusal_told(scope: Scope) -> None:
    """Note that a refusal of the request by its route has an entry of its own."""
    scope[_TOLD] = True


class RefusalsCounted:
    """An application that writes its acts down itself, and whose refusals of a caller the log counts."""

    def __init__(self, app: ASGIApp, audit: Audit, *, address: str) -> None:
        self._app = app
        self._audit = audit
        self._address = address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def count_refusal(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 403 and _TOLD not in scope:
                self._audit.note_refusal(403, REFUSED, self._address)
            await send(message)

        await self._app(scope, receive, count_refusal)


class Audited:
    """An application whose request, from an address, is written down before it runs, and its result behind it."""

    def __init__(
        self, app: ASGIApp, audit: Audit, action: str, *, address: str, projects: Sequence[str] = ()
    ) -> None:
        """`projects` are those in which the request acts, () for all or none."""
        self._app = app
        self._audit = audit
        self._action = action
        self._address = address
        self._projects = projects

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        address, target, user, status = self._address, _target_of(scope, self._projects), _user_of(scope), 0

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            number = await self._audit.begin(self._action, target, address, user)
        except StorageUnavailable as exc:  # what cannot be written down is not done
            await failure(scope, exc)(scope, receive, send)
            return
        try:
            await self._app(scope, receive, noting)
        finally:
            result = str(status or "broken off")
            await self._audit.end(number, self._action, target, result, address, user)


def _user_of(scope: Scope) -> str:
    """The user whose data the request names, as stores spell it; "" for none."""
    found = found_in(scope)
    named = query(scope, "user_id") if found.says.about is None else found.path_params[found.says.about]
    return (named or "").strip()


def _target_of(scope: Scope, projects: Sequence[str]) -> str:
    """The path, then the user and the projects; of an overlong path the end is left out."""
    named = [("user_id", query(scope, "user_id")), *(("project", project) for project in projects)]
    end = "".join(f" {name}={value}" for name, value in named if value)[:_LONGEST_TARGET]
    path = str(scope["path"])
    return path[: _LONGEST_TARGET - len(end)] + end
