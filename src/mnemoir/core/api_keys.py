"""API keys: their text, their hash, and what a stored key says.

A key is `mn_<env>_<id>_<secret>`: `env` is `live` or `test`, the id 8 public characters, the secret 32 random bytes
in base64url. Keys have full entropy, so their hash is an HMAC-SHA-256 with a pepper of the server, and no slow one.
"""

import hmac
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Literal

from mnemoir.core.clock import utc_now
from mnemoir.core.errors import InvalidRequest
from mnemoir.core.scope import Principal, Role

Env = Literal["live", "test"]
LONGEST_KEY = 512  # bytes; a longer text is no key
LONGEST_LABEL = 200
_KEY = re.compile(r"mn_(?:live|test)_([a-z0-9]{8})_([A-Za-z0-9_-]{43})", re.ASCII)
_QUOTED = re.compile(r"mn_(?:live|test)_([a-z0-9]{8})_", re.ASCII)
_ID_CHARACTERS = "abcdefghijkmnpqrstuvwxyz23456789"  # none that is easily taken for another
_PEPPER_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A stored key without its secret. `projects` and `user` are None for all of the tenant, `configs` for all.

    `replaced_by` is the id of the key that a rotation made of it. Times are in UTC.
    """

    id: str
    hash: bytes = field(repr=False)
    tenant: str
    role: Role
    projects: Sequence[str] | None = None
    user: str | None = None
    configs: Sequence[str] | None = None
    label: str = ""
    created_at: datetime
    created_by: str = ""
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    replaced_by: str | None = None
    last_used_at: datetime | None = None

    def is_valid(self, now: datetime) -> bool:
        """False once the key is revoked or has expired."""
        is_expired = self.expires_at is not None and self.expires_at <= now
        return not is_expired and (self.revoked_at is None or now < self.revoked_at)

    @property
    def state(self) -> Literal["valid", "expired", "revoked"]:
        """What the key is now."""
        now = utc_now()
        if self.revoked_at is not None and self.revoked_at <= now:
            return "revoked"
        return "valid" if self.is_valid(now) else "expired"

    @property
    def principal(self) -> Principal:
        """The caller that this key stands for."""
        projects = None if self.projects is None else tuple(self.projects)
        configs = None if self.configs is None else tuple(self.configs)
        return Principal(
            tenant=self.tenant,
            key=self.id,
            roles=(self.role,),
            projects=projects,
            user=self.user,
            configs=configs,
        )


@dataclass(frozen=True, slots=True)
class KeyText:
    """The two parts of a key as it was sent."""

    id: str
    secret: str = field(repr=False)


def new_text(env: Env = "live") -> tuple[KeyText, str]:
    """A new key: its parts, and its text, which is shown once."""
    parts = KeyText("".join(secrets.choice(_ID_CHARACTERS) for _ in range(8)), secrets.token_urlsafe(32))
    return parts, f"mn_{env}_{parts.id}_{parts.secret}"


def parts_of(text: str) -> KeyText | None:
    """The parts of a key's text; None for any other text."""
    found = _KEY.fullmatch(text) if len(text) <= LONGEST_KEY else None
    return None if found is None else KeyText(found[1], found[2])


def id_in(text: str) -> str | None:
    """The id of the first key that a text quotes; None where it quotes none."""
    found = _QUOTED.search(text)
    return None if found is None else found[1]


def hash_of(secret: str, pepper: bytes) -> bytes:
    """The stored hash of a key's secret, 32 bytes."""
    keyed = _hmac_with_pepper(pepper).copy()
    keyed.update(secret.encode("utf-8", "surrogatepass"))
    return keyed.digest()


@lru_cache(maxsize=4)
def _hmac_with_pepper(pepper: bytes) -> hmac.HMAC:
    """The HMAC with its key set, to be copied for each request: setting the key takes as long as the rest."""
    return hmac.new(pepper, digestmod="sha256")


def new_pepper() -> bytes:
    """A random pepper, 32 bytes."""
    return secrets.token_bytes(_PEPPER_BYTES)


def label_text(raw: str) -> str:
    """`raw`, trimmed, if it is one line of bounded length. Raises InvalidRequest."""
    label = raw.strip()
    if len(label) > LONGEST_LABEL or not label.isprintable():
        raise InvalidRequest(
            f"The label must be one line of at most {LONGEST_LABEL} characters.",
            code="validation_error",
            field="label",
        )
    return label
