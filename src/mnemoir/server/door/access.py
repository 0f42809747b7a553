"""Access control: the check of a request's key and rights.

Every route requires a key, the token of an issuer, or the cookie of a person who signed in, except those that say
`open` or `signing_in`; keys are compared in constant time. Ollama's clients request `/` and `/api/version` to detect
a server, most of them without a key. The answers name Mnemoir and the version of the protocol it speaks.

The guard stores the principal in the ASGI scope and as the act of the request.
"""

import asyncio
import hmac
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from hashlib import sha256

import structlog
from starlette.responses import Response
from starlette.types import Scope, Send

from mnemoir.access.api_keys import ApiKeys
from mnemoir.access.issuers.tokens import Tokens
from mnemoir.access.keyless_clients import KeylessClients
from mnemoir.access.shared_counts import SharedCounts
from mnemoir.access.sign_in.sessions import Sessions, SignedIn
from mnemoir.core.api_keys import LONGEST_KEY, id_in
from mnemoir.core.discussions import ClientKeys
from mnemoir.core.errors import (
    Forbidden,
    InvalidRequest,
    MnemoirError,
    RateLimited,
    StorageDamaged,
    StorageUnavailable,
    Unauthorized,
)
from mnemoir.core.scope import SETTINGS_KEYS, Act, Principal, Role, acting
from mnemoir.core.users import TERMINAL_TOKEN
from mnemoir.server.door.clients import kind_of
from mnemoir.server.door.crowd import refuse_crowd
from mnemoir.server.door.errors import failure
from mnemoir.server.door.options import ServerOptions
from mnemoir.server.door.origins import Origins
from mnemoir.server.door.rate_limits import WRONG_KEYS, RateLimits
from mnemoir.server.door.request import header, visit_of
from mnemoir.server.door.says import refusal_of
from mnemoir.server.door.sessions import SessionCookies
from mnemoir.server.door.table import found_in
from mnemoir.workflows.discussion_files import PREVIOUS_KEY

_log = structlog.get_logger(__name__)
_PREVIOUS_KEY = PREVIOUS_KEY.lower().encode()
_KEY_HEADERS = (b"authorization", b"x-api-key", b"api-key")
_SCHEMES = ("bearer ", "token ")
_NEEDS_KEY = "A valid API key is needed: send it as `Authorization: Bearer <key>`, `X-API-Key` or `api-key`."
ANYBODY = Principal()
NOBODY = Principal(roles=())
_PRINCIPAL = "mnemoir.principal"
_NEEDS = "mnemoir.needs_key"
_KEYLESS = "-"  # no id of a key
_TO_COUNT = "mnemoir.to_count"  # the kind of a request that is to be counted with those of other servers
_WRONG_KEY = "mnemoir.wrong_key"  # true where a key or token that came was counted as wrong
_BEARER = "mnemoir.bearer"  # of a token: the principal, or the error for it
_LOOKED_UP = "mnemoir.looked_up"  # of each key: the principal, None for a wrong one, or the error


class Guard:
    """Refuses requests, answers preflights, and sends browsers the origins that may read an answer.

    Only the hashes of the keys of the settings are kept; they are admins of the default tenant.
    """

    def __init__(
        self,
        options: ServerOptions,
        keys: ApiKeys,
        sessions: Sessions,
        clients: KeylessClients | None = None,
        tokens: Tokens | None = None,
        *,
        has_issuers: bool = False,
        shared_counts: SharedCounts | None = None,
    ) -> None:
        self._keys = keys
        self._tokens = tokens if tokens is not None and tokens.are_taken and not options.is_in_process else None
        self._has_issuers = has_issuers
        self._clients = clients
        self._sessions = sessions
        self.cookies = SessionCookies(options, sessions)
        self.rate_limits = RateLimits(options, shared_counts)
        self._is_local = options.is_local
        self._trusts_caller = options.is_in_process
        self._settings_keys = [
            (_hash(key), _principal_of_setting(number, is_admin_key=key == options.admin_api_key))
            for number, key in enumerate(options.api_keys, 1)
        ]
        self._origins = Origins(options)

    def answer_browser(self, scope: Scope, send: Send) -> tuple[Response | None, Send]:
        """The answer to a foreign page or a preflight, None for all other requests; and the `send` for any answer."""
        try:
            return self._origins.answer(scope, send, needs_key=partial(self._needs_key, scope))
        except StorageUnavailable as exc:
            return _no_keys_now(scope, exc), send

    @property
    def needs_key(self) -> bool:
        """True when requests need a credential: the settings name keys or issuers, or keys or users were made."""
        if self._trusts_caller:
            return False
        is_set = bool(self._settings_keys) or self._has_issuers
        return is_set or self._keys.are_required(is_local=self._is_local)

    def _needs_key(self, scope: Scope) -> bool:
        """The same, looked up once for a request."""
        if _NEEDS not in scope:
            scope[_NEEDS] = self.needs_key
        return bool(scope[_NEEDS])

    def has_several_keys(self) -> bool:
        """True when callers are told apart by more than one key."""
        return self._tokens is not None or len(self._settings_keys) + self._keys.count > 1

    async def look_up(self, scope: Scope) -> None:
        """Find out whose key or cookie came with a request, for `refuse`, where that may take as a network does."""
        if self._keys.are_remote and not self._trusts_caller and found_in(scope).says.right != "open":
            await asyncio.to_thread(self._look_up, scope)

    def _look_up(self, scope: Scope) -> None:
        with suppress(StorageUnavailable):  # whoever asks again is told so at once
            if not self._needs_key(scope):
                return
            scope[_LOOKED_UP] = {key: self._principal_or_error(key) for key in set(_presented_keys(scope))}
            if not scope[_LOOKED_UP] or found_in(scope).says.right == "signing_in":
                self.cookies.signed_in(scope)

    def _principal_or_error(self, key: str) -> Principal | StorageUnavailable | None:
        try:
            return self._principal(key)
        except StorageUnavailable as exc:
            return exc

    def _found_by(self, scope: Scope, key: str) -> Principal | None:
        """The caller with that key, as it was looked up for the request, if it was. Raises StorageUnavailable."""
        known = scope.get(_LOOKED_UP, {})
        found: Principal | StorageUnavailable | None = known[key] if key in known else self._principal(key)
        if isinstance(found, StorageUnavailable):
            raise found
        return found

    async def check_token(self, scope: Scope) -> None:
        """Find out whose token came with a request, for `refuse`; its issuer may be asked for its keys."""
        if self._tokens is None or not found_in(scope).says.needs_credential:
            return
        token = _presented_token(scope)
        if token is None or self._of_settings(token) is not None:
            return
        acting.set(Act(principal=NOBODY, request_id=visit_of(scope).request_id))
        try:
            scope[_BEARER] = await self._tokens.principal(token, self._address_of(scope))
        except MnemoirError as exc:
            scope[_BEARER] = exc

    def refuse(self, scope: Scope) -> Response | None:
        """The refusal of a request without a required key or right; None for one that may pass, then admitted."""
        try:
            return self._refuse(scope)
        except StorageUnavailable as exc:
            return _no_keys_now(scope, exc)
        except (Forbidden, InvalidRequest) as exc:
            return failure(scope, exc)
        except RateLimited as exc:
            refused = failure(scope, exc)
            if exc.bucket == WRONG_KEYS:  # pages then ask for another key, as they do at 401
                refused.headers["www-authenticate"] = "Bearer"
            return refused

    async def still_lets_in(self, scope: Scope) -> bool:
        """Whether the caller of a request that goes on would be let in again, with the same rights."""
        try:
            if not self.needs_key:
                return True
            found = await self._found_again(scope)
        except MnemoirError:
            return False
        return found == principal_of(scope)

    async def _found_again(self, scope: Scope) -> Principal | None:
        if self._tokens is not None and isinstance(scope.get(_BEARER), Principal):
            return await self._tokens.principal(_presented_token(scope) or "", self._address_of(scope))
        again = partial(self._principal_now, scope)
        return await asyncio.to_thread(again) if self._keys.are_remote else again()

    def _principal_now(self, scope: Scope) -> Principal | None:
        if key := presented_key(scope):
            return self._principal(key)
        signed_in = self.cookies.still_signed_in(scope)
        return None if signed_in is None else signed_in.principal

    async def refuse_one_too_many(self, scope: Scope) -> Response | None:
        """The refusal of a request, after `refuse`, of which its key has made too many on all servers together."""
        if _TO_COUNT not in scope:
            return None
        try:
            await self.rate_limits.take_shared(scope, principal_of(scope).key, scope[_TO_COUNT])
        except RateLimited as exc:
            return failure(scope, exc)
        return None

    async def count(self, scope: Scope) -> None:
        """Count a request that passed `refuse` uncounted. Raises RateLimited for one too many."""
        key, bucket = principal_of(scope).key, found_in(scope).says.counts_as
        if self.rate_limits.are_shared:
            await self.rate_limits.take_shared(scope, key, bucket)
        else:
            self.rate_limits.take(scope, key, bucket)

    def _refuse(self, scope: Scope) -> Response | None:
        says = found_in(scope).says
        if not says.by_foreign_pages and (foreign := self._origins.refusal_of_page(scope)) is not None:
            return failure(scope, foreign)
        if says.right == "open":  # whether keys are needed is not even looked up
            admit(scope, NOBODY, is_reading=True)
            return None
        needs_key, is_reading = self._needs_key(scope), says.right == "read"
        if says.right == "signing_in":
            self._admit_signing_in(scope, needs_key=needs_key)
            return None
        address = self._address_of(scope) if says.right in ("manage", "any") else ""
        if not needs_key:
            admit(scope, ANYBODY, is_reading=is_reading, address=address)
            self._note_keyless(scope)
            return None
        sent = set(_presented_keys(scope))
        if len(sent) > 1:
            several = InvalidRequest("The request has several keys that differ. Send one.", code="several_keys")
            has_wrong = any(self._is_wrong(scope, key) for key in sent)
            return self._unknown(scope, several, has_wrong_key=True) if has_wrong else failure(scope, several)
        key = sent.pop() if sent else ""
        found = scope[_BEARER] if _BEARER in scope else self._found_by(scope, key) if key else self._person(scope)
        if not isinstance(found, Principal):
            is_wrong = bool(key) and (found is None or isinstance(found, Unauthorized))
            return self._unknown(scope, found, has_wrong_key=is_wrong)
        principal = found
        admit(scope, principal, is_reading=is_reading, address=address)
        if says.counts and self.rate_limits.are_shared:
            scope[_TO_COUNT] = says.counts_as
        elif says.counts:
            self.rate_limits.take(scope, principal.key, says.counts_as)
        refused = refusal_of(principal, says.right)
        return None if refused is None else failure(scope, refused)

    def refuse_crowd(self, scope: Scope) -> Response | None:
        """The refusal of a request, after `refuse`, on one connection more than its caller may hold; else None.

        Where a key is needed, all who sent no valid one hold the share of one key together.
        """
        principal = scope.get(_PRINCIPAL)
        key = principal.key if isinstance(principal, Principal) else ""
        return refuse_crowd(scope, key or _KEYLESS, is_shared=partial(self._shares_connections, scope, key))

    def _shares_connections(self, scope: Scope, key: str) -> bool:
        try:
            return self.has_several_keys() if key else self._needs_key(scope)
        except StorageUnavailable:  # nobody is let in now
            return True

    def _unknown(self, scope: Scope, why: MnemoirError | None, *, has_wrong_key: bool) -> Response:
        """The refusal of a caller who is not known. Raises RateLimited after too many wrong keys and tokens."""
        acting.set(Act(principal=NOBODY, request_id=visit_of(scope).request_id))
        if has_wrong_key:
            scope[_WRONG_KEY] = True
            self.rate_limits.note_wrong_key(scope)
        if isinstance(why, StorageUnavailable):
            return _no_keys_now(scope, why)
        if quoted := id_in(scope["query_string"].decode("ascii", "replace")):
            # proxies and browsers keep addresses: it is to be revoked
            _log.warning("key in a query string", id=quoted)
        self.rate_limits.note_unauthenticated(scope)
        return failure(scope, why or Unauthorized(_NEEDS_KEY))

    def _admit_signing_in(self, scope: Scope, *, needs_key: bool) -> None:
        """Admit a request to sign in, sign out or ask who is. Raises Forbidden for one of another page."""
        if scope["method"] != "GET":
            self.cookies.refuse_foreign(scope)
        signed_in = self.cookies.signed_in(scope) if needs_key else None
        principal = signed_in.principal if signed_in else NOBODY if needs_key else ANYBODY
        admit(scope, principal, is_reading=True, address=self._address_of(scope))

    def _note_keyless(self, scope: Scope) -> None:
        """Note the kind of a client that a key will be needed for; people will sign in to the page."""
        if self._clients is not None and not self._trusts_caller and (kind := kind_of(scope)) != "mnemoir-ui":
            self._clients.note(kind, header(scope, b"user-agent") or "")

    def _person(self, scope: Scope) -> Principal | None:
        """The person whose cookie came with the request. Raises Forbidden when their page did not send it."""
        signed_in = self.cookies.signed_in(scope)
        if signed_in is None:
            return None
        self.cookies.check(scope)
        return signed_in.principal

    def on_terminal(self, scope: Scope) -> SignedIn | None:
        """Who signed in on the command line, by the token that came in place of a key; None for none."""
        token = presented_key(scope) or ""
        return self._sessions.signed_in(token) if token.startswith(TERMINAL_TOKEN) else None

    def _is_wrong(self, scope: Scope, key: str) -> bool:
        """Whether the key, or the token of the request, would count as a wrong one if it came alone."""
        if key == _presented_token(scope) and _BEARER in scope:
            return isinstance(scope[_BEARER], Unauthorized)
        return self._found_by(scope, key) is None

    def _principal(self, key: str) -> Principal | None:
        if len(key) > LONGEST_KEY:
            return None
        if key.startswith(TERMINAL_TOKEN):
            signed_in = self._sessions.signed_in(key)
            return None if signed_in is None else signed_in.principal
        return self._of_settings(key) or self._keys.principal(key)

    def _address_of(self, scope: Scope) -> str:
        return str(self.rate_limits.proxies.client_of(scope) or "")

    def _of_settings(self, key: str) -> Principal | None:
        if not self._settings_keys:
            return None
        hashed = _hash(key)
        # no early end: the time taken must not show which key was nearly right
        known = [principal for other, principal in self._settings_keys if hmac.compare_digest(hashed, other)]
        return known[-1] if known else None


def _no_keys_now(scope: Scope, exc: StorageUnavailable) -> Response:
    return failure(
        scope, exc if isinstance(exc, StorageDamaged) else StorageUnavailable(exc.message, code="auth_unavailable")
    )


def has_wrong_key(scope: Scope) -> bool:
    """Whether a key of the request was counted as a wrong one."""
    return _WRONG_KEY in scope


def presented_key(scope: Scope) -> str | None:
    """The key sent with a request, from `Authorization: Bearer|Token`, `X-API-Key` or `api-key`; None without one."""
    return next(_presented_keys(scope), None)


def client_keys(scope: Scope) -> ClientKeys | None:
    """The keys of a request for the format's own encryption of discussions; None for a request without a key.

    A token and a session end too soon to encrypt anything by them.
    """
    key = None if isinstance(scope.get(_BEARER), Principal) else presented_key(scope)
    if key is None or (key.startswith(TERMINAL_TOKEN) and principal_of(scope).person):
        return None
    return ClientKeys(current=key, previous=header(scope, _PREVIOUS_KEY) or None)


def _presented_keys(scope: Scope) -> Iterator[str]:
    """All keys of the request, also of a header that came several times: each is to be the same."""
    for name, value in scope["headers"]:
        if name in _KEY_HEADERS:
            text = value.decode("latin-1").strip()
            if name == b"authorization":
                text = text.partition(" ")[2].strip() if text.lower().startswith(_SCHEMES) else ""
            if text:
                yield text


def _presented_token(scope: Scope) -> str | None:
    """The token of a request: what comes as `Authorization: Bearer` and has two dots. None for keys, and without."""
    scheme, _, text = (header(scope, b"authorization") or "").partition(" ")
    text = text.strip()
    return text if scheme.lower() == "bearer" and text.count(".") == 2 else None


def _principal_of_setting(number: int, *, is_admin_key: bool) -> Principal:
    roles: tuple[Role, ...] = ("admin", "operator") if is_admin_key else ("admin",)
    return Principal(key=f"{SETTINGS_KEYS}{number}", roles=roles)


def _hash(key: str) -> bytes:
    return sha256(key.encode("utf-8", "surrogatepass")).digest()


def admit(scope: Scope, principal: Principal, *, is_reading: bool = False, address: str = "") -> None:
    """Let a request pass the guard and store its principal, under whose rights all later code runs."""
    scope[_PRINCIPAL] = principal
    request_id = visit_of(scope).request_id
    acting.set(Act(principal=principal, request_id=request_id, is_reading=is_reading, address=address))


def principal_of(scope: Scope) -> Principal:
    """The principal of a request. Raises LookupError for a request that has not passed the guard."""
    principal = scope.get(_PRINCIPAL)
    if not isinstance(principal, Principal):
        raise LookupError("the request has not passed the guard")
    return principal
