"""The check of a token: its signature by a key of its issuer, for whom it was made, and when.

Only what the settings name decides about algorithms and keys: a key, or the address of one, in a token counts for
nothing.
"""

import json
from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

from mnemoir.access.issuers.keys import IssuerKeys
from mnemoir.core import first_use
from mnemoir.core.clock import Clock
from mnemoir.core.errors import Unauthorized

if TYPE_CHECKING:
    import jwt
else:
    jwt = first_use.module("jwt")

LONGEST_TOKEN = 8 * 1024  # bytes
LEEWAY = timedelta(seconds=30)  # between the clock of an issuer and that of this machine
_LONGEST_LIFE = timedelta(hours=24)
_LONGEST_SUBJECT = 255
_LATEST = 32_503_680_000  # the year 3000, in seconds since 1970
Claims = Mapping[str, Any]


class UncheckedToken:
    """A token as it was sent, of which nothing is known to be true."""

    def __init__(self, text: str) -> None:
        """Raises Unauthorized for a text that is no token."""
        if len(text.encode("utf-8", "surrogatepass")) > LONGEST_TOKEN:
            raise token_refusal(f"it is longer than {LONGEST_TOKEN} bytes")
        try:
            read = _signatures().decode_complete(text, options={"verify_signature": False})
            claims = json.loads(read["payload"])
        except jwt.PyJWTError:
            raise token_refusal("it is none, or demands something that this server does not know") from None
        except (ValueError, RecursionError):
            claims = None
        if not isinstance(claims, dict):
            raise token_refusal("it says nothing in the form of a JSON object")
        header = read["header"]
        if "crit" in header:
            raise token_refusal("it demands something that this server does not know (crit)")
        kid = header.get("kid")
        self.text = text
        self.issuer = claims.get("iss")
        self.algorithm = str(header.get("alg"))
        self.kid: str | None = kid if isinstance(kid, str) else None
        self.claims: Claims = claims


class Checker:
    """Checks the tokens that one issuer makes for an audience."""

    def __init__(
        self, issuer: str, audience: Collection[str], algorithms: Collection[str], keys: IssuerKeys, clock: Clock
    ) -> None:
        self.issuer = issuer
        self.keys = keys
        self._audience = frozenset(audience)
        self._algorithms = frozenset(algorithms)
        self._clock = clock

    async def claims(self, token: UncheckedToken) -> Claims:
        """What a token says, now that it is known to be true. Raises Unauthorized and IssuerUnavailable."""
        if token.algorithm not in self._algorithms:
            raise token_refusal(f"its algorithm is not one of {', '.join(sorted(self._algorithms))}")
        candidates = await self.keys.matching(token.kid, token.algorithm)
        if not any(_is_signed(token, key) for key in candidates):
            raise token_refusal("its signature is of no key of the issuer")
        self._check(token.claims)
        return token.claims

    def _check(self, claims: Claims) -> None:
        now = self._clock()
        expires, issued = _time(claims, "exp"), _time(claims, "iat")
        if claims.get("iss") != self.issuer:
            raise token_refusal("its issuer is another one")
        if self._audience.isdisjoint(_texts(claims.get("aud"))):
            raise token_refusal("it was made for another audience")
        if now >= expires + LEEWAY:
            raise token_refusal("it has expired")
        if issued > now + LEEWAY or ("nbf" in claims and _time(claims, "nbf") > now + LEEWAY):
            raise token_refusal("it is not valid yet; a clock may be wrong")
        if not timedelta() <= expires - issued <= _LONGEST_LIFE:
            raise token_refusal("it is valid for more than 24 hours")
        subject = claims.get("sub")
        if not isinstance(subject, str) or not 0 < len(subject) <= _LONGEST_SUBJECT or not subject.isprintable():
            raise token_refusal("it names nobody (sub)")


def expiry_of(claims: Claims) -> datetime:
    """When a token that was checked ends."""
    return _time(claims, "exp") + LEEWAY


def token_refusal(why: str) -> Unauthorized:
    """The refusal of a token."""
    return Unauthorized(f"The token was refused: {why}. Get a new one from its issuer.", code="invalid_token")


@cache
def _signatures() -> "jwt.PyJWS":
    return jwt.PyJWS(options={"enforce_minimum_key_length": True})


def _is_signed(token: UncheckedToken, key: "jwt.PyJWK") -> bool:
    try:
        _signatures().decode(token.text, key, algorithms=[token.algorithm])
    except jwt.PyJWTError:
        return False
    return True


def _time(claims: Claims, name: str) -> datetime:
    value = claims.get(name)
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= _LATEST:
        raise token_refusal(f"it has no time {name!r}")
    return datetime.fromtimestamp(value, UTC)


def _texts(value: object) -> Collection[str]:
    if isinstance(value, str):
        return [value]
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
