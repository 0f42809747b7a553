"""Tokens as credentials: who their bearer is, by the word of an issuer that the settings name.

A token is checked once, and known again by its digest until it ends or its issuer changes its keys. Nothing of it is
stored but issuer and subject, in the audit log.
"""

import asyncio
from base64 import b32encode
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from hashlib import sha256
from typing import Any

from mnemoir.access.audit import Audit
from mnemoir.access.issuers.checking import Checker, UncheckedToken, expiry_of, token_refusal
from mnemoir.access.issuers.documents import Document, Documents, address_in, document_in
from mnemoir.access.issuers.granting import Granting
from mnemoir.access.issuers.keys import IssuerKeys
from mnemoir.access.tenants import Tenants
from mnemoir.core.clock import Clock, utc_now
from mnemoir.core.errors import MnemoirError
from mnemoir.core.scope import DEFAULT_TENANT, Principal
from mnemoir.settings.issuers import TokenIssuer

_MOST_KNOWN = 10_000


class Tokens:
    """The tokens of the issuers of one server. For one event loop."""

    def __init__(
        self,
        issuers: Sequence[TokenIssuer],
        documents: Documents,
        tenants: Tenants,
        audit: Audit,
        clock: Clock = utc_now,
    ) -> None:
        self._issuers: dict[str, list[_Issuer]] = {}
        for one in issuers:
            self._issuers.setdefault(one.issuer, []).append(_Issuer(one, documents, clock))
        self._tenants = tenants
        self._audit = audit
        self._clock = clock
        self._known: OrderedDict[bytes, _Known] = OrderedDict()
        self._seen: OrderedDict[str, None] = OrderedDict()

    @property
    def are_taken(self) -> bool:
        """Whether there is any issuer."""
        return bool(self._issuers)

    def start(self) -> None:
        """Read the keys of all issuers in the background."""
        for issuer in self._each():
            issuer.checker.keys.begin()

    async def aclose(self) -> None:
        """Stop that."""
        await asyncio.gather(*(issuer.checker.keys.aclose() for issuer in self._each()))

    def check_clock(self) -> None:
        """Raise IssuerUnavailable while this machine's clock and that of an issuer differ too much."""
        for issuer in self._each():
            issuer.checker.keys.check_clock()

    async def principal(self, text: str, address: str) -> Principal:
        """The bearer of a token, sent from an address.

        Raises Unauthorized for one that is wrong, Forbidden for one that grants nothing, IssuerUnavailable, and
        StorageUnavailable when the first use of it by a bearer cannot be written down.
        """
        digest, now = sha256(text.encode("utf-8", "surrogatepass")).digest(), self._clock()
        known = self._known.get(digest)
        if known is None or not known.counts(now):
            known = await self._verify_with_issuers(text, address)
            self._known[digest] = known
            self._known.move_to_end(digest)
            if len(self._known) > _MOST_KNOWN:
                self._known.popitem(last=False)
        if self._tenants.is_suspended(known.principal.tenant):
            raise token_refusal("its tenant is suspended")
        return known.principal

    async def _verify_with_issuers(self, text: str, address: str) -> "_Known":
        token = UncheckedToken(text)
        issuers = self._issuers.get(token.issuer, []) if isinstance(token.issuer, str) else []
        if not issuers:
            raise token_refusal("its issuer is none that this server knows")
        failure: MnemoirError | None = None
        for issuer in issuers:
            try:
                known = await issuer.verify_token(token)
            except MnemoirError as exc:
                failure = exc
                continue
            await self._note(known.principal, token, address)
            return known
        assert failure is not None
        raise failure

    async def _note(self, principal: Principal, token: UncheckedToken, address: str) -> None:
        """Write down, once in the life of this process, whom the short name of a bearer stands for."""
        if principal.key in self._seen or not self._audit.is_on:
            return
        await self._audit.note(principal, "tokens.use", f"{token.issuer} {token.claims['sub']}", address)
        self._seen[principal.key] = None
        if len(self._seen) > _MOST_KNOWN:
            self._seen.popitem(last=False)

    def _each(self) -> Sequence["_Issuer"]:
        return [issuer for issuers in self._issuers.values() for issuer in issuers]


@dataclass(frozen=True, slots=True)
class _Known:
    principal: Principal
    until: datetime
    keys: IssuerKeys
    version: int

    def counts(self, now: datetime) -> bool:
        return now < self.until and self.keys.version == self.version


class _Issuer:
    def __init__(self, settings: TokenIssuer, documents: Documents, clock: Clock) -> None:
        keys = IssuerKeys(settings.issuer, settings.algorithms, source_of_keys(settings, documents), clock)
        self.checker = Checker(settings.issuer, settings.audience, settings.algorithms, keys, clock)
        self._granting = Granting(settings.claims, settings.role_map)

    async def verify_token(self, token: UncheckedToken) -> _Known:
        claims = await self.checker.claims(token)
        granted, keys = self._granting.rights_from(claims), self.checker.keys
        principal = Principal(
            tenant=granted.tenant or DEFAULT_TENANT,
            key=f"token:{_short(self.checker.issuer, claims)}",
            roles=self._granting.roles(granted),
            projects=granted.projects,
            user=granted.user,
        )
        until = expiry_of(claims)
        return _Known(principal, min(until, keys.due_at or until), keys, keys.version)


def source_of_keys(settings: TokenIssuer, documents: Documents) -> Callable[[], Awaitable[Document]]:
    """What reads the keys of an issuer of tokens. It may raise IssuerUnavailable."""
    if settings.jwks_file is not None:
        return partial(document_in, settings.jwks_file)
    if settings.jwks_url is not None:
        return partial(documents.get, settings.jwks_url)
    return partial(keys_of_issuer, documents, settings.issuer)


async def keys_of_issuer(documents: Documents, issuer: str) -> Document:
    """The keys of an issuer, from the address that it names."""
    return await documents.get(address_in(await documents.of_issuer(issuer), "jwks_uri", issuer))


def _short(issuer: str, claims: Mapping[str, Any]) -> str:
    """16 letters and digits that stand for an issuer and one of its subjects."""
    return b32encode(sha256(f"{issuer}\0{claims['sub']}".encode()).digest()[:10]).decode().lower()
