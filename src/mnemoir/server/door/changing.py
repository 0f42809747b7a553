"""Who may change the language model and workflows: operators, such as the admin key, or a page on this machine.

Workflows take the right of an admin besides, which a key of the role operator alone has not.

A change decides where chats and memories are sent, so more is asked than for reading: without an admin key, the
server must listen on this machine only, and the request must come from its own origin as JSON. A page of another site
cannot send that, and neither can a form. Where anybody may call without a key, nobody may change anything.
"""

from starlette.types import Scope

from mnemoir.core.errors import Forbidden
from mnemoir.server.door.access import principal_of
from mnemoir.server.door.options import ServerOptions
from mnemoir.server.door.origins import is_this_machine
from mnemoir.server.door.request import header
from mnemoir.server.door.table import found_in

_OPEN = (
    "This cannot be changed here, because the server lets everybody in (--allow-unauthenticated). "
    "Change it in its file or the environment, or start the server with keys."
)
_NEEDS_OPERATOR = "This takes the admin key (ADMIN_API_KEY), or a key of an operator."
_NEEDS_BOTH = "This takes the admin key (ADMIN_API_KEY), or somebody who is both admin and operator."  # for workflows
_NEEDS_OWN_PAGE = (
    "Without an admin key, this is changed from a page of this server, opened on this machine, or by the command "
    "line: such a request has this server's own Origin, and application/json as its Content-Type."
)


def lock_reason(scope: Scope, options: ServerOptions) -> str:
    """The reason why the caller of this request may change nothing; "" when it may."""
    if options.allow_unauthenticated:
        return _OPEN
    if _is_operator(scope, options):
        return ""
    principal = principal_of(scope)
    needed = _NEEDS_BOTH if found_in(scope).says.right == "admin" else _NEEDS_OPERATOR
    is_bound = principal.is_bound or principal.configs is not None
    if options.admin_api_key is not None or is_bound or not principal.may("admin"):
        return needed
    return "" if options.is_local else f"{needed} Set one, and start the server again."


def check_change(scope: Scope, options: ServerOptions) -> None:
    """Raise Forbidden for a request that may change or test nothing."""
    reason = lock_reason(scope, options)
    if reason:
        raise Forbidden(reason, code="admin_key_needed")
    if not _is_operator(scope, options) and not (_is_own_page(scope) and _is_json(scope)):
        raise Forbidden(_NEEDS_OWN_PAGE, code="own_page_needed")


def _is_operator(scope: Scope, options: ServerOptions) -> bool:
    """True for a key that is an operator's, such as the admin key, and for this program itself."""
    principal = principal_of(scope)
    return principal.may("operator") and (bool(principal.key) or options.is_in_process)


def _is_own_page(scope: Scope) -> bool:
    scheme, _, rest = (header(scope, b"origin") or "").partition("://")
    host = header(scope, b"host") or ""
    return scheme in ("http", "https") and rest.lower() == host.lower() and is_this_machine(host)


def _is_json(scope: Scope) -> bool:
    kind = (header(scope, b"content-type") or "").partition(";")[0]
    return kind.strip().lower() == "application/json"
