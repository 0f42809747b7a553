"""The checks of `doctor` for identity providers: each of the settings is asked for its description and its keys."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import partial

from mnemoir.access.issuers.documents import Document, Documents, address_in
from mnemoir.access.issuers.keys import MOST_OFF, keys_in
from mnemoir.access.issuers.tokens import keys_of_issuer, source_of_keys
from mnemoir.cli.diagnosis.file_checks import Check, Finding
from mnemoir.cli.output import count_with_noun
from mnemoir.core.clock import utc_now
from mnemoir.core.errors import IssuerUnavailable
from mnemoir.providers.http import new_session
from mnemoir.settings import Settings
from mnemoir.settings.issuers import ALGORITHMS, SignInIssuer, TokenIssuer

_Read = Callable[[Documents], Awaitable[Document]]


def issuer_checks(settings: Settings) -> Sequence[Check]:
    """One check for each identity provider of the settings, those that people sign in with first."""
    signing_in = [partial(_check_sign_in, issuer=one) for one in settings.auth.oidc]
    return [*signing_in, *(partial(_check_tokens, issuer=one) for one in settings.auth.jwt)]


async def _check_sign_in(settings: Settings, issuer: SignInIssuer) -> Finding:
    async def read(documents: Documents) -> Document:
        description = await documents.of_issuer(issuer.issuer)
        for name in ("authorization_endpoint", "token_endpoint"):
            address_in(description, name, issuer.issuer)
        return await keys_of_issuer(documents, issuer.issuer)

    return await _check(settings, f"sign-in with {issuer.name}", issuer.issuer, ALGORITHMS, read)


async def _check_tokens(settings: Settings, issuer: TokenIssuer) -> Finding:
    async def read(documents: Documents) -> Document:
        return await source_of_keys(issuer, documents)()

    return await _check(settings, "tokens", issuer.issuer, issuer.algorithms, read)


async def _check(settings: Settings, check: str, issuer: str, algorithms: Collection[str], read: _Read) -> Finding:
    """Check that an issuer answers, has keys that count, and a clock that goes with the one of this machine."""
    async with new_session(settings.http.proxies, is_careful=True) as session:
        try:
            document = await read(Documents(session))
        except IssuerUnavailable as exc:
            to_do = "Start it, or correct its address under `auth`; until then nobody is let in by it."
            return Finding(check=check, state="fail", found=exc.message, to_do=to_do)
    keys = keys_in(document.body, algorithms)
    if not keys:
        found = f"{issuer} answers, but has no key for {', '.join(sorted(algorithms))}"
        to_do = "Have it sign with one of these; a secret that is shared is not enough."
        return Finding(check=check, state="fail", found=found, to_do=to_do)
    off = None if document.sent_at is None else document.sent_at - utc_now()
    if off is not None and abs(off) > MOST_OFF:
        found = f"{issuer} answers; its clock and that of this machine differ by {abs(off.total_seconds()):.0f} s"
        return Finding(check=check, state="fail", found=found, to_do="Set the clock; until then tokens are refused.")
    clock = "which tells no time" if off is None else f"clocks differ by {abs(off.total_seconds()):.0f} s"
    return Finding(check=check, state="ok", found=f"{issuer} answers, {count_with_noun(len(keys), 'key')}, {clock}")
