"""Signing in with an identity provider: authorization code with PKCE.

The browser goes to the provider and comes back with a code, which this server redeems for a token that says who it
is. What was asked lies in a row that a cookie of that browser finds, counts once, and for ten minutes.
"""

import asyncio
import hmac
from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode, urlsplit

import structlog

from mnemoir.access.access_file import AccessFile
from mnemoir.access.issuers.checking import Checker, Claims, UncheckedToken
from mnemoir.access.issuers.documents import Document, Documents, address_in
from mnemoir.access.issuers.granting import Granted, Granting
from mnemoir.access.issuers.keys import IssuerKeys
from mnemoir.core.clock import Clock, utc_now
from mnemoir.core.errors import Forbidden, InvalidRequest, NotFound, Unauthorized
from mnemoir.core.scope import DEFAULT_TENANT, Role
from mnemoir.core.users import Grant, new_token, token_hash, user_name
from mnemoir.settings.issuers import ALGORITHMS, SignInIssuer
from mnemoir.storage.sql.access.sign_ins import SignIn, SqlSignIns
from mnemoir.storage.sql.access.users import Identity

WITHIN = timedelta(minutes=10)
_MOST_UNDER_WAY = 10_000
_FRESH = timedelta(hours=1)
_LONGEST_CODE = 4096
_NAMES = ("preferred_username", "name", "email", "sub")  # claims with a name to call somebody by, best first
_WITH_CONTENTS: tuple[Role, ...] = ("admin", "write", "read")  # highest first
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Vouched:
    """Who signed in, by the word of a provider: what it knows them by, names to call them by, what it grants.

    `invitation` is the hash of the token of one that the sign-in was begun with.
    """

    provider: SignInIssuer
    identity: Identity
    names: Sequence[str]
    granted: Granted
    roles: tuple[Role, ...]
    leads_to: str
    invitation: bytes | None

    @property
    def grant(self) -> Grant:
        """What a new user may by the word of the provider alone."""
        said = self.granted
        grant = Grant(tenant=said.tenant or DEFAULT_TENANT, role="write", memory_user=said.user)
        return _with(grant, self.roles, said.projects)

    def granted_to(self, grant: Grant) -> Grant:
        """What a user may after this sign-in: what the provider does not say stays. Raises Forbidden for a tenant."""
        if self.granted.tenant not in (None, grant.tenant):
            raise Forbidden(
                f"{self.provider.name} says that you belong to {self.granted.tenant!r}, which is another tenant.",
                code="other_tenant",
            )
        return _with(grant, self.granted.roles, self.granted.projects)


def _with(grant: Grant, roles: tuple[Role, ...] | None, projects: tuple[str, ...] | None) -> Grant:
    if roles is not None:
        role: Role = next((one for one in _WITH_CONTENTS if one in roles), "operator")
        grant = replace(grant, role=role, is_operator="operator" in roles and role != "operator")
    return grant if projects is None else replace(grant, projects=list(projects))


class SignIns:
    """The sign-ins with the providers of the settings. Methods may raise IssuerUnavailable and StorageUnavailable."""

    def __init__(
        self, providers: Sequence[SignInIssuer], documents: Documents, file: AccessFile, clock: Clock = utc_now
    ) -> None:
        self._providers = {one.id: _Provider(one, documents, clock) for one in providers}
        self._file = file
        self._clock = clock

    @property
    def providers(self) -> Sequence[SignInIssuer]:
        """The providers, in the order of the settings."""
        return [one.settings for one in self._providers.values()]

    async def aclose(self) -> None:
        """Stop reading keys."""
        await asyncio.gather(*(one.keys.aclose() for one in self._providers.values()))

    async def begin(
        self, provider_id: str, *, redirect_uri: str, leads_to: str, invitation: str | None = None
    ) -> tuple[str, str]:
        """The address to send a browser to, and the token for its cookie. Raises NotFound.

        `invitation` is the token of one by which whoever signs in becomes a user.
        """
        provider = self._provider(provider_id)
        token, now = new_token(), self._clock()
        sign_in = SignIn(
            state=new_token(),
            provider=provider_id,
            nonce=new_token(),
            verifier=new_token(),
            redirect_uri=redirect_uri,
            leads_to=leads_to,
            invitation=None if invitation is None else token_hash(invitation),
            expires_at=now + WITHIN,
        )
        url = await provider.address(sign_in)
        await asyncio.to_thread(self._rows.begin, sign_in, token_hash(token), now=now, most=_MOST_UNDER_WAY)
        return url, token

    async def come_back(self, token: str | None, answer: Mapping[str, str]) -> None:
        """Note that a browser with that cookie came back. Raises Unauthorized for one that did not sign in.

        `answer` are the parameters of its address: `state` and `code`, or an `error`; and `iss`.
        """
        state, hash = answer.get("state", ""), token_hash(token or "")
        sign_in = await asyncio.to_thread(self._rows.open, state, hash, self._clock()) if token else None
        if sign_in is None:
            raise _not_under_way()
        provider = self._provider(sign_in.provider)
        if "error" in answer:
            await asyncio.to_thread(self._rows.take, state, hash, self._clock())
            raise provider.sign_in_refusal(answer["error"], answer.get("error_description", ""))
        await provider.check_sender(answer.get("iss"))
        code = answer.get("code", "")
        if not 0 < len(code) <= _LONGEST_CODE:
            raise provider.sign_in_refusal("no code", "")
        if not await asyncio.to_thread(self._rows.answer, state, hash, code, self._clock()):
            raise _not_under_way()

    async def finish(self, token: str | None, state: str) -> Vouched:
        """Who the browser with that cookie belongs to, once. Raises Unauthorized, and Forbidden without any role."""
        hash = token_hash(token or "")
        sign_in = await asyncio.to_thread(self._rows.take, state, hash, self._clock()) if token else None
        if sign_in is None or sign_in.code is None:
            raise _not_under_way()
        provider = self._provider(sign_in.provider)
        claims = await provider.claims(sign_in, sign_in.code)
        granted = provider.granting.rights_from(claims)
        names = _names_in(claims)
        if not names:
            raise provider.sign_in_refusal("no name that can be used", "")
        return Vouched(
            provider=provider.settings,
            identity=Identity(provider.settings.issuer, claims["sub"]),
            names=names,
            granted=granted,
            roles=provider.granting.roles(granted),
            leads_to=sign_in.leads_to,
            invitation=sign_in.invitation,
        )

    def _provider(self, provider_id: str) -> "_Provider":
        found = self._providers.get(provider_id)
        if found is None:
            raise NotFound(f"There is no identity provider {provider_id[:64]!r} here.", code="provider_not_found")
        return found

    @property
    def _rows(self) -> SqlSignIns:
        return SqlSignIns(self._file.open_or_create())


class _Provider:
    def __init__(self, settings: SignInIssuer, documents: Documents, clock: Clock) -> None:
        self.settings = settings
        self.granting = Granting(settings.claims, settings.role_map)
        self.keys = IssuerKeys(settings.issuer, ALGORITHMS, self._read_keys, clock)
        self._checker = Checker(settings.issuer, [settings.client_id], ALGORITHMS, self.keys, clock)
        self._documents = documents
        self._clock = clock
        self._said: tuple[datetime, Mapping[str, Any]] | None = None

    async def address(self, sign_in: SignIn) -> str:
        """Where a browser signs in."""
        url = address_in(await self._description(), "authorization_endpoint", self.settings.issuer)
        challenge = urlsafe_b64encode(sha256(sign_in.verifier.encode()).digest()).decode().rstrip("=")
        asked = {
            "response_type": "code",
            "client_id": self.settings.client_id,
            "redirect_uri": sign_in.redirect_uri,
            "scope": " ".join(self.settings.scopes),
            "state": sign_in.state,
            "nonce": sign_in.nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        return f"{url}{'&' if urlsplit(url).query else '?'}{urlencode(asked)}"

    async def check_sender(self, issuer: str | None) -> None:
        """Raise Unauthorized when a browser comes from another issuer than the one it was sent to (RFC 9207)."""
        tells = (await self._description()).get("authorization_response_iss_parameter_supported") is True
        if issuer != self.settings.issuer and (issuer is not None or tells):
            raise self.sign_in_refusal("another issuer", "")

    async def claims(self, sign_in: SignIn, code: str) -> Claims:
        """What the token says that a code is redeemed for. Raises Unauthorized."""
        text = (await self._redeem_code(sign_in, code)).get("id_token")
        if not isinstance(text, str):
            raise self.sign_in_refusal("no id token", "")
        claims = await self._checker.claims(UncheckedToken(text))
        has_several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
        if claims.get("azp", None if has_several else self.settings.client_id) != self.settings.client_id:
            raise self.sign_in_refusal("a token for another client", "")
        if not hmac.compare_digest(str(claims.get("nonce", "")).encode("utf-8", "replace"), sign_in.nonce.encode()):
            raise self.sign_in_refusal("a token of another sign-in", "")
        return claims

    def sign_in_refusal(self, error: str, said: str) -> Unauthorized:
        """The refusal of a sign-in, for an error of the provider's or of its answer."""
        _log.warning("sign-in refused", provider=self.settings.id, error=error[:100], said=said[:300])
        why = _PLAIN.get(error, f"it answered with {error[:100]!r}")
        return Unauthorized(f"{self.settings.name} did not sign you in: {why}. Begin again.", code="wrong_sign_in")

    async def _redeem_code(self, sign_in: SignIn, code: str) -> Mapping[str, Any]:
        description, settings = await self._description(), self.settings
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": sign_in.redirect_uri,
            "client_id": settings.client_id,
            "code_verifier": sign_in.verifier,
        }
        secret = None if settings.client_secret is None else settings.client_secret.get_secret_value()
        ways = description.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        if secret is not None and isinstance(ways, list) and "client_secret_basic" not in ways:
            form["client_secret"], secret = secret, None
        url = address_in(description, "token_endpoint", settings.issuer)
        answer = await self._documents.post(url, form, user=settings.client_id, secret=secret)
        if answer.status != 200:
            error = str(answer.body.get("error", answer.status))
            raise self.sign_in_refusal(error, str(answer.body.get("error_description", "")))
        return answer.body

    async def _description(self) -> Mapping[str, Any]:
        now = self._clock()
        if self._said is None or now >= self._said[0]:
            self._said = now + _FRESH, await self._documents.of_issuer(self.settings.issuer)
        return self._said[1]

    async def _read_keys(self) -> Document:
        return await self._documents.get(address_in(await self._description(), "jwks_uri", self.settings.issuer))


def _names_in(claims: Claims) -> Sequence[str]:
    names = []
    for claim in _NAMES:
        with suppress(InvalidRequest):
            names.append(user_name(claims.get(claim)))
    return names


_PLAIN = {
    "access_denied": "you or it refused",
    "invalid_grant": "its code was used before or is too old",
    "invalid_client": "it does not accept the client_id or the secret of this server. Tell who runs it",
    "unauthorized_client": "it does not let this server ask for that. Tell who runs it",
    "redirect_uri_mismatch": "it does not know the address of this server. Tell who runs it",
    "temporarily_unavailable": "it is not available now",
    "server_error": "it failed",
}


def _not_under_way() -> Unauthorized:
    return Unauthorized(
        "This sign-in has ended already, took longer than ten minutes, or began in another browser. Begin again.",
        code="wrong_sign_in",
    )
