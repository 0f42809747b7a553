"""The cookie of a person who signed in, and the checks that only their own page sent it.

A browser adds the cookie to every request that goes to this host, whichever page asked for it, and for http also
from other ports. So a request counts as the person's only if it says, by headers that no foreign page can set, that
it comes from this server's own page: by the `Origin` and a token for all that changes something, by one of them for
streams. The cookie counts on the routes of the page alone, never on those of chat clients, as routes say themselves.
"""

import hmac
import re
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from urllib.parse import urlsplit

from starlette.requests import cookie_parser
from starlette.types import Scope

from mnemoir.access.sign_in.devices import KNOWN_FOR
from mnemoir.access.sign_in.sessions import Sessions, SignedIn
from mnemoir.core.errors import Forbidden, InvalidRequest
from mnemoir.server.door.options import ServerOptions
from mnemoir.server.door.origins import is_foreign, is_this_machine
from mnemoir.server.door.request import header
from mnemoir.server.door.table import found_in

CSRF_HEADER = b"x-mnemoir-csrf"
_SECURE_NAME = "__Host-mnemoir"
_UNDER_WAY = "-signing-in"  # behind the name of the cookie, for a sign-in with another site
_DEVICE = "-device-"  # and what stands for the person
_SIGNED_IN = "mnemoir.signed_in"
_CSRF = "mnemoir.csrf"
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)
_READING = ("GET", "HEAD")


class SessionCookies:
    """Reads and writes the cookie of one server."""

    def __init__(self, options: ServerOptions, sessions: Sessions) -> None:
        self._sessions = sessions
        self._options = options
        public = urlsplit((options.public_url or "").lower())
        self._public_host, self._public_scheme = public.netloc, public.scheme

    def signed_in(self, scope: Scope) -> SignedIn | None:
        """Who sent the cookie of this request; None without a valid one, and on routes where none counts."""
        if _SIGNED_IN in scope:
            known: SignedIn | None = scope[_SIGNED_IN]
            return known
        valid = self._valid(scope) if found_in(scope).says.by_cookie else None
        scope[_SIGNED_IN] = found = None if valid is None else valid[1]
        if valid is not None:
            scope[_CSRF] = csrf_of(valid[0])
        return found

    def still_signed_in(self, scope: Scope) -> SignedIn | None:
        """Whose the session of a request that goes on is now; None when it has ended."""
        valid = self._valid(scope)
        return None if valid is None else valid[1]

    def check(self, scope: Scope) -> None:
        """Raise Forbidden for a request with a valid cookie that this server's own page did not send."""
        if is_foreign(scope):
            raise _foreign()
        is_reading = scope["method"] in _READING
        sent = header(scope, CSRF_HEADER)
        if is_reading and sent is None:
            if found_in(scope).says.is_stream and not self.is_own(scope):
                raise Forbidden("Streams take the header X-Mnemoir-CSRF, with `csrf` of GET /api/auth.", code="csrf")
            return
        if not is_reading and not self.is_own(scope):
            raise _foreign()
        if sent is None or not hmac.compare_digest(sent.encode(), scope[_CSRF].encode()):
            raise _wrong_token()  # also of a page whose browser signed in as somebody else meanwhile

    def is_own(self, scope: Scope) -> bool:
        """Whether the request names this server's own page as its origin."""
        scheme, _, place = (header(scope, b"origin") or "").lower().partition("://")
        if scheme not in ("http", "https") or not place:
            return False
        if place == self._public_host:
            return scheme == self._public_scheme
        return place == (header(scope, b"host") or "").lower()

    def refuse_foreign(self, scope: Scope) -> None:
        """Raise Forbidden where another page asks to sign in. Programs send no origin."""
        if is_foreign(scope) or (header(scope, b"origin") is not None and not self.is_own(scope)):
            raise _foreign()

    def is_secure(self, scope: Scope) -> bool:
        """Whether the browser came by https, as far as its own origin, the address of the server or a proxy tell."""
        origin = header(scope, b"origin") or ""
        if self.is_own(scope):
            return origin.lower().startswith("https://")
        return scope.get("scheme") == "https" or self._public_scheme == "https"

    def page_origin(self, scope: Scope) -> str:
        """The origin of the page that sent a request, as far as it can be told."""
        if self.is_own(scope):
            return (header(scope, b"origin") or "").lower()
        if self._public_host:
            return f"{self._public_scheme}://{self._public_host}"
        return f"{'https' if self.is_secure(scope) else 'http'}://{(header(scope, b'host') or '').lower()}"

    def base_url(self, scope: Scope) -> str:
        """The address of the pages, for links: that of the settings, else the one that this request used."""
        if self._options.public_url:
            return self._options.public_url
        host = header(scope, b"host") or f"localhost:{self._options.port}"
        if is_this_machine(host):  # passkeys need this name
            host = "localhost" + (f":{host.rpartition(':')[2]}" if host.rpartition(":")[2].isdigit() else "")
        scheme = "https" if self.is_secure(scope) else "http"
        return f"{scheme}://{host}{self._options.root_path}"

    def address_here(self, scope: Scope) -> str:
        """The address of the settings, else the one that the browser uses, so that its cookies come along."""
        return self._options.public_url or f"{self.page_origin(scope)}{self._options.root_path}"

    def setting_under_way(self, scope: Scope, token: str, seconds: int) -> str:
        """The header that keeps the token of a sign-in that leads over another site, and comes back from there."""
        return self._cookie(scope, token, seconds, _UNDER_WAY, "Lax")

    def under_way(self, scope: Scope) -> str | None:
        """The token of the sign-in that is under way in this browser; None for none."""
        return next(self._tokens(scope, _UNDER_WAY), None)

    def setting(self, scope: Scope, token: str) -> str:
        """The header that keeps a token in the browser."""
        return self._cookie(scope, token, int(self._sessions.longest.total_seconds()))

    def setting_device(self, scope: Scope, name: str, token: str) -> str:
        """The header that keeps the token of a device on which the person of that name has signed in."""
        return self._cookie(scope, token, int(KNOWN_FOR.total_seconds()), f"{_DEVICE}{name}")

    def device(self, scope: Scope, name: str) -> str:
        """That token; "" for none. Raises InvalidRequest for two."""
        return next(self._tokens(scope, f"{_DEVICE}{name}"), "")

    def removing(self, scope: Scope) -> str:
        """The header that removes it."""
        return self._cookie(scope, "", 0)

    def _cookie(self, scope: Scope, value: str, seconds: int, kind: str = "", same_site: str = "Strict") -> str:
        is_secure = self.is_secure(scope)
        name = (_SECURE_NAME if is_secure else self._plain_name) + kind
        secure = "; Secure" if is_secure else ""
        return f"{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite={same_site}{secure}"

    @property
    def _plain_name(self) -> str:
        return f"mnemoir_{self._sessions.installation}"

    def _valid(self, scope: Scope) -> tuple[str, SignedIn] | None:
        """The first token that counts: browsers send the cookies of https://localhost to other servers there, too."""
        for token in self._tokens(scope):
            if (signed_in := self._sessions.signed_in(token)) is not None:
                return token, signed_in
        return None

    def _tokens(self, scope: Scope, kind: str = "") -> Iterator[str]:
        """The tokens in the cookies of this server. Raises InvalidRequest for two cookies of one name.

        Another site of the same domain can add the second one, and which of them counts would be its choice.
        """
        sent = [value.decode("latin-1") for name, value in scope["headers"] if name == b"cookie"]
        if not any("mnemoir" in cookies for cookies in sent):
            return
        pairs = [pair.partition("=")[0].strip() for cookies in sent for pair in cookies.split(";")]
        cookies = cookie_parser("; ".join(sent))
        for name in (_SECURE_NAME + kind, self._plain_name + kind):
            if pairs.count(name) > 1:
                raise InvalidRequest(
                    f"The request has {pairs.count(name)} cookies named {name}. Delete the cookies of this site, and "
                    "sign in again.",
                    code="several_cookies",
                )
            if _TOKEN.fullmatch(value := cookies.get(name, "")):
                yield value


def csrf_of(token: str) -> str:
    """The token that the page of a session sends in a header; it tells nothing of that in the cookie."""
    return urlsafe_b64encode(hmac.digest(token.encode(), b"csrf", "sha256")).decode().rstrip("=")


def csrf_in(scope: Scope) -> str | None:
    """The same for the session of a request; None without one."""
    return scope.get(_CSRF)


def signed_in_of(scope: Scope) -> SignedIn | None:
    """Who signed in, of a request that passed the guard; None for callers with a key, and others."""
    return scope.get(_SIGNED_IN)


def _foreign() -> Forbidden:
    return Forbidden(
        "This request does not come from this server's own page. If you use it under another address, "
        "set server.public_url to that.",
        code="foreign_origin",
    )


def _wrong_token() -> Forbidden:
    return Forbidden("The header X-Mnemoir-CSRF is not that of this session. Load the page again.", code="csrf")
