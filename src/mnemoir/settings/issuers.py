"""Identity providers: issuers of tokens for the API, and those that people sign in with."""

import json
import re
from collections.abc import Mapping
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from mnemoir.core.scope import Role
from mnemoir.settings.addresses import is_loopback
from mnemoir.settings.memory_config import Section
from mnemoir.settings.values import AbsolutePath, Key, Names

# signatures by a key pair alone: with a shared secret the checker of a token could also make one
Algorithm = Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
ALGORITHMS: tuple[Algorithm, ...] = ("RS256", "PS256", "ES256", "EdDSA")
ANY_ROLE = "*"  # of a role map: users with none of the others


_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,31}", re.ASCII)


def safe_url(raw: str) -> str:
    """A URL of https, or of http on this machine, as it was given: an issuer's name counts to its last slash."""
    url = raw.strip()
    parts = urlsplit(url)
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or ""))
    if not parts.hostname or not is_safe or "@" in parts.netloc or parts.fragment or not url.isprintable():
        raise ValueError("must be a URL that starts with https://; http:// is for this machine only")
    return url


def _listed_json(raw: object) -> object:
    """The list in a text, so that one environment variable holds it."""
    if not isinstance(raw, str):
        return raw
    try:
        return json.loads(raw)
    except ValueError:
        raise ValueError("must be a list of objects; in one text, write it as JSON") from None


def _id(raw: str) -> str:
    if not _ID.fullmatch(raw):
        raise ValueError("must be 1 to 32 small letters, digits or dashes, as it stands in addresses")
    return raw


def _some(raw: tuple[str, ...]) -> tuple[str, ...]:
    if not raw or not all(name.strip() for name in raw):
        raise ValueError("must name at least one")
    return raw


SafeUrl = Annotated[str, AfterValidator(safe_url)]
Word = Annotated[str, Field(min_length=1, max_length=255)]
RoleMap = Mapping[str, Role]


class Claims(Section):
    """The names of a token's claims, with a dot for one within an object. None: the claim is not used."""

    tenant: Word | None = None
    user: Word | None = "sub"
    role: Word | None = None
    projects: Word | None = None


class SignInClaims(Claims):
    """The same for people who sign in; without `user` their memory user is the name that they get."""

    user: Word | None = None


class TokenIssuer(Section):
    """An issuer of tokens for the API. Without an address or a file of keys, its own description names them."""

    issuer: Word
    audience: Annotated[Names, AfterValidator(_some)]
    jwks_url: SafeUrl | None = None
    jwks_file: AbsolutePath | None = None
    algorithms: Annotated[tuple[Algorithm, ...], AfterValidator(_some)] = ALGORITHMS
    claims: Claims = Claims()
    role_map: RoleMap = Field(default_factory=dict)

    @model_validator(mode="after")
    def _has_keys(self) -> "TokenIssuer":
        if self.jwks_url is not None and self.jwks_file is not None:
            raise ValueError("has jwks_url and jwks_file; leave one out")
        if self.jwks_url is None and self.jwks_file is None:
            try:
                safe_url(self.issuer)
            except ValueError as exc:
                raise ValueError(f"needs jwks_url or jwks_file, as its issuer is none to ask: it {exc}") from None
        return self


class SignInIssuer(Section):
    """An identity provider that people sign in with. Without a secret, this server is a public client of it."""

    id: Annotated[str, AfterValidator(_id)]
    name: Word
    issuer: SafeUrl
    client_id: Word
    client_secret: Key | None = None
    scopes: Names = ("openid", "profile", "email")
    claims: SignInClaims = SignInClaims()
    role_map: RoleMap = Field(default_factory=dict)
    create_users: bool = False


def _unlike(issuers: tuple[SignInIssuer, ...]) -> tuple[SignInIssuer, ...]:
    if len({one.id for one in issuers}) < len(issuers):
        raise ValueError("must have an id of its own for each")
    return issuers


TokenIssuers = Annotated[tuple[TokenIssuer, ...], BeforeValidator(_listed_json)]
SignInIssuers = Annotated[tuple[SignInIssuer, ...], BeforeValidator(_listed_json), AfterValidator(_unlike)]
