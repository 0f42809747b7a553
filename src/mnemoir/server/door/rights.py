"""The right that each route takes, whether a principal has it, and the bucket whose rate limit a request counts for.

Reading takes the role `read`, and changing takes `write`, but for the routes listed here. `any` is the right of every
valid key; `manage` that of admins and operators, who then decide about different things; `server` that to see what is
counted over the whole server.
"""

import re
from typing import Literal

from mnemoir.core.errors import Forbidden, MnemoirError
from mnemoir.core.scope import Principal

Right = Literal["any", "read", "write", "admin", "manage", "server"]
Bucket = Literal["chat", "add", "search", "read", "admin"]
_ANY = re.compile(r"[A-Z]+ /api/me(?:/(?s:.*))?|GET /api/usage")
_READING = ("GET", "HEAD", "OPTIONS")
# POST because they need a body, not because they change anything
_SEARCHES = re.compile(r"POST /api/(?:memories/search|show)")
_ADMIN = re.compile(
    r"(?:DELETE) /api/(?:memories|conversations)"
    r"|(?:PUT|DELETE) /api/memories/(?:extraction-prompt|settings)"
    r"|POST /api/(?:import|conversations/(?:import|prune|node-memory/cleanup))"
    r"|[A-Z]+ /api/workflows/(?s:.*)"
    r"|POST /api/subjects/(?s:.+)|[A-Z]+ /api/holds(?:/(?s:.+))?"
)
_MANAGING = re.compile(
    r"(?:POST|PUT|DELETE) /api/model(?:/(?s:.*))?|GET /api/model/found"
    r"|[A-Z]+ /api/(?:keys|tenants|audit|users|invitations)(?:/(?s:.*))?|GET /api/auth/clients"
)
_SERVER = re.compile(r"(?:GET|POST) (?:/api/(?:status|clients|retention)(?:/(?s:.*))?|/metrics|/ready)")
# the others are told by their right
_BUCKETS: tuple[tuple[Bucket, re.Pattern[str]], ...] = (
    ("chat", re.compile(r"POST (?:(?:/v1|/api/page)?(?:/chat)?/completions|/api/(?:chat|generate))")),
    (
        "search",
        re.compile(
            r"POST (?:/api/memories/search|(?:/v1)?/embeddings|/api/embed(?:dings)?)"
            r"|GET /api/(?:conversations|discussions/(?s:.+))/search"
        ),
    ),
)

_OF_RIGHTS: dict[Right, Bucket] = {"any": "read", "read": "read", "write": "add"}

_NEEDED = {
    "manage": "admin or operator",
    "server": "operator, or admin of a key that is bound to no project and no user",
}


def right_for(method: str, path: str) -> Right:
    """The right that a request takes. `path` has no final slash; unknown routes take what their method says."""
    asked = f"{method if method != 'HEAD' else 'GET'} {path}"
    if _ANY.fullmatch(asked):
        return "any"
    if _ADMIN.fullmatch(asked):
        return "admin"
    if _MANAGING.fullmatch(asked):
        return "manage"
    if _SERVER.fullmatch(asked):
        return "server"
    return "read" if method in _READING or _SEARCHES.fullmatch(asked) else "write"


def bucket_for(method: str, path: str, right: Right) -> Bucket:
    """The bucket that a request counts for, by its right unless it is a chat or a search."""
    asked = f"{method if method != 'HEAD' else 'GET'} {path}"
    found = next((bucket for bucket, routes in _BUCKETS if routes.fullmatch(asked)), None)
    return found or _OF_RIGHTS.get(right, "admin")


def has_right(principal: Principal, right: Right) -> bool:
    """Whether the principal has the right."""
    if right == "any":
        return True
    if right == "server":
        return principal.sees_server
    if right == "manage":
        return principal.may("admin") or principal.may("operator")
    return principal.may(right)


def refusal_of(principal: Principal, right: Right) -> MnemoirError | None:
    """The error for a principal without the right; None for one that has it."""
    if has_right(principal, right):
        return None
    own = ", ".join(principal.roles)
    return Forbidden(f"The role of this key is {own}; this takes {_NEEDED.get(right, right)}. Use a key that may.")
