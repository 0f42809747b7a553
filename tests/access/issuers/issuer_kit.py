"""What the tests of issuers share: tokens checked by the real parts, with a clock of the test."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from mnemoir.access.access_file import AccessFile
from mnemoir.access.audit import Audit
from mnemoir.access.issuers.documents import Documents
from mnemoir.access.issuers.tokens import Tokens
from mnemoir.access.tenants import Tenants
from mnemoir.core.scope import Principal
from mnemoir.providers.http import new_session
from mnemoir.settings import load_settings
from tests.scripted_issuer import AUDIENCE, ScriptedIssuer

START = datetime(2026, 5, 1, 12, tzinfo=UTC)


@dataclass
class Taking:
    """A server's view of tokens; `now` is its clock, which the issuer's tokens follow."""

    issuer: ScriptedIssuer
    tokens: Tokens
    tenants: Tenants
    audit: Audit
    now: datetime = START

    def token(self, *, off_s: float = 0, **claims: Any) -> str:
        """A token made now, or so many seconds later."""
        return self.issuer.token(now=self.now.timestamp() + off_s, **claims)

    def later(self, **span: float) -> None:
        """Move the clock."""
        self.now += timedelta(**span)

    async def take(self, token: str | None = None) -> Principal:
        """The bearer of a token; without one, of a new one."""
        return await self.tokens.principal(token or self.token(), "127.0.0.1")


@asynccontextmanager
async def taking(folder: Path, issuer: ScriptedIssuer, **settings: Any) -> AsyncIterator[Taking]:
    """The tokens of an issuer, by settings of `auth.jwt`."""
    given = {"issuer": issuer.url, "audience": AUDIENCE, "jwks_url": f"{issuer.url}/keys"} | settings
    listed = [{name: value for name, value in given.items() if value is not None}]
    loaded = load_settings(None, {"storage.data_dir": str(folder), "auth.jwt": listed}, environ={})
    async with new_session(is_careful=True) as session:
        file = AccessFile(loaded)
        tenants, audit = Tenants(file), Audit(loaded, file)
        view = Taking(issuer, None, tenants, audit)  # type: ignore[arg-type]  # set below: the tokens read its clock
        view.tokens = Tokens(loaded.auth.jwt, Documents(session), tenants, audit, clock=lambda: view.now)
        issuer.clock = lambda: view.now
        try:
            yield view
        finally:
            await view.tokens.aclose()
            await audit.aclose()
            await file.aclose()
