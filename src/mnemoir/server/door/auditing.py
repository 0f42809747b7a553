"""Which requests the audit log is about: acts on all of somebody's data, on settings, on the model; and refusals.

The making and ending of keys is written down where it is done.
"""

import re
from collections.abc import Mapping

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mnemoir.access.audit import Audit
from mnemoir.core.errors import StorageUnavailable
from mnemoir.core.scope import acting
from mnemoir.server.door.errors import failure
from mnemoir.server.door.request import query

_LONGEST_TARGET = 500
_ACTS: Mapping[str, str] = {
    "memories.delete_all": r"DELETE /api/memories",
    "memories.export": r"GET /api/export",
    "memories.import": r"POST /api/import",
    "conversations.delete_all": r"DELETE /api/conversations",
    "conversations.forget": r"DELETE /api/conversations/[^/]+",
    "conversations.export": r"GET /api/conversations/(?:[^/]+/)?export",
    "conversations.import": r"POST /api/conversations/import",
    "conversations.prune": r"POST /api/conversations/prune",
    "node_memory.cleanup": r"POST /api/conversations/node-memory/cleanup",
    "discussions.forget": r"DELETE /api/discussions/[^/]+",
    "discussions.export": r"GET /api/discussions/[^/]+/export",
    "discussions.import": r"POST /api/discussions/[^/]+/import",
    "settings.change": r"(?:PUT|DELETE) /api/memories/(?:settings|extraction-prompt)",
    "model.change": r"(?:PUT|DELETE) /api/model(?:/embedding)?",
    "users.adopt": r"POST /api/users/[^/]+/adopt",
    "subjects.export": r"POST /api/subjects/[^/]+/export",
    "subjects.erase": r"POST /api/subjects/[^/]+/erase",
    "holds.change": r"(?:PUT|DELETE) /api/holds/[^/]+",
    "retention.run": r"POST /api/retention/run",
    "workflows.change": r"(?:PUT /api/workflows/files|POST /api/workflows/kept)/.+",
}
_ANY_ACT = re.compile("|".join(f"(?P<a{place}>{pattern})" for place, pattern in enumerate(_ACTS.values())))
_NAMES = tuple(_ACTS)
_NAMED_IN_PATH = re.compile(r"/api/(?:subjects|holds)/(.+?)(?:/export|/erase)?", re.DOTALL)
REFUSED = "refused"


def act_of(method: str, raw_path: str, path: str) -> str:
    """The action of a request in the log; "" for a request that is not written down.

    Some routes match the path as it was sent, the others match it decoded, such as `/api/%65xport`.
    """
    found = _ANY_ACT.fullmatch(f"{method} {raw_path}") or _ANY_ACT.fullmatch(f"{method} {path}")
    return "" if found is None or found.lastgroup is None else _NAMES[int(found.lastgroup[1:])]


def is_counted(status: int) -> bool:
    """Whether the log counts a refusal: for want of a key or a right, or of an address with too many wrong keys."""
    return status in (401, 403) or (status == 429 and not acting.get().principal.key)


class Audited:
    """An application whose request, from an address, is written down before it runs, and its result behind it."""

    def __init__(self, app: ASGIApp, audit: Audit, action: str, address: str) -> None:
        self._app = app
        self._audit = audit
        self._action = action
        self._address = address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        address, target, user, status = self._address, _target_of(scope), _user_of(scope), 0

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
    named = _NAMED_IN_PATH.fullmatch(scope["path"])
    return (named[1] if named else query(scope, "user_id") or "").strip()


def _target_of(scope: Scope) -> str:
    path, user, project = scope["path"], query(scope, "user_id"), query(scope, "project")
    said = [path, *(f"{name}={value}" for name, value in (("user_id", user), ("project", project)) if value)]
    return " ".join(said)[:_LONGEST_TARGET]
