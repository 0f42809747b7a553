"""People who sign in: who they are, what they may, their invitations and their sessions.

Tokens of invitations and sessions have 256 random bits and are stored as SHA-256; recovery codes have 50, and are
stored as HMAC with the pepper of the server.
"""

import hmac
import re
import secrets
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from mnemoir.core.errors import InvalidRequest
from mnemoir.core.scope import DEFAULT_TENANT, Principal, Role, entity_name

LONGEST_NAME = 64
SHORTEST_PASSWORD = 10  # characters
LONGEST_PASSWORD = 512  # bytes
RECOVERY_CODES = 10
TERMINAL_TOKEN = "mt_"  # how the tokens of sessions on the command line begin
PERSON_KEY = "user:"  # how the key of a person who signed in begins; then comes their id
_CHARACTERS = "abcdefghijkmnpqrstuvwxyz23456789"  # none that is easily taken for another
_CODE = re.compile(r"[a-z0-9]{10}", re.ASCII)
_FIRST_CODE_CHARACTERS = 12
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]+"  # these count as printable
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """What a user may. `projects` and `configs`, config users of the workflow tree, are None for all.

    `is_operator` is besides the role. `memory_user` is the user whose memories and conversations are theirs; None,
    in an invitation alone, for the name that the user chooses.
    """

    tenant: str = DEFAULT_TENANT
    role: Role
    is_operator: bool = False
    memory_user: str | None = None
    projects: Sequence[str] | None = None
    configs: Sequence[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """A person who signs in, without any secret. Times are in UTC; `time_zone` is where the person lives."""

    id: str
    name: str
    grant: Grant
    created_at: datetime
    created_by: str
    disabled_at: datetime | None = None
    last_seen_at: datetime | None = None
    has_password: bool = False
    passkeys: int = 0
    time_zone: str | None = None

    @property
    def principal(self) -> Principal:
        """The caller that this user is, once signed in."""
        grant = self.grant
        roles: tuple[Role, ...] = (grant.role, "operator") if grant.is_operator else (grant.role,)
        return Principal(
            tenant=grant.tenant,
            key=f"{PERSON_KEY}{self.id}",
            person=self.id,
            roles=roles,
            projects=None if grant.projects is None else tuple(grant.projects),
            user=grant.memory_user,
            configs=None if grant.configs is None else tuple(grant.configs),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """What its token lets somebody become, once. `resets` is the id of the user to whom it gives a new password.

    `only_new`: of its memory user, and with the role admin of its tenant, nothing may be there when somebody joins.
    """

    id: str
    name: str | None
    grant: Grant
    created_at: datetime
    created_by: str
    expires_at: datetime
    resets: str | None = None
    only_new: bool = False

    @property
    def gives_new_memory(self) -> bool:
        """Whether whoever joins by it gets a memory user that nobody may have yet."""
        return self.resets is None and (self.only_new or self.grant.memory_user is None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A sign-in of a user in one browser, whose `agent` it named. Times are in UTC.

    `confirmed_at` is when its user last showed who they are.
    """

    id: str
    user: str
    created_at: datetime
    last_seen_at: datetime
    agent: str
    address: str
    confirmed_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Passkey:
    """A key pair of a user's authenticator: its id there, and the public key in COSE."""

    id: str
    user: str
    credential: bytes
    public_key: bytes
    sign_count: int
    label: str
    created_at: datetime
    last_used_at: datetime | None = None


def new_id(kind: str) -> str:
    """`<kind>_` and 8 random characters."""
    return f"{kind}_" + "".join(secrets.choice(_CHARACTERS) for _ in range(8))


def new_token() -> str:
    """The text of 32 random bytes, in base64url."""
    return secrets.token_urlsafe(32)


def new_terminal_token() -> str:
    """A token of a session on the command line, which goes where keys go. No cookie has one of that form."""
    return f"{TERMINAL_TOKEN}{new_token()}"


def new_first_code() -> str:
    """A token that a person types: 12 characters in groups of four, for some minutes and few tries."""
    drawn = "".join(secrets.choice(_CHARACTERS) for _ in range(_FIRST_CODE_CHARACTERS))
    return "-".join(drawn[at : at + 4] for at in range(0, _FIRST_CODE_CHARACTERS, 4))


def token_hash(token: str) -> bytes:
    """The stored hash of a token, 32 bytes."""
    return sha256(token.encode("utf-8", "surrogatepass")).digest()


def new_recovery_codes() -> list[str]:
    """Ten codes of ten characters, written with a dash."""
    drawn = ("".join(secrets.choice(_CHARACTERS) for _ in range(10)) for _ in range(RECOVERY_CODES))
    return [f"{code[:5]}-{code[5:]}" for code in drawn]


def code_hash(code: str, user_id: str, pepper: bytes) -> bytes | None:
    """The stored hash of a user's recovery code, however it is spaced; None for a text that is none."""
    plain = re.sub(r"[\s-]", "", code[:100]).lower()
    if not _CODE.fullmatch(plain):
        return None
    return hmac.digest(pepper, f"recovery {user_id} {plain}".encode(), "sha256")


def user_name(raw: object) -> str:
    """The name of a user: trimmed, one line of 1 to 64 characters. Raises InvalidRequest naming `name`."""
    name = unicodedata.normalize("NFC", entity_name(raw, "name"))
    if len(name) > LONGEST_NAME or not name.isprintable() or not comparable_name(name):
        raise InvalidRequest(
            f"The name must be one line of at most {LONGEST_NAME} visible characters.",
            code="validation_error",
            field="name",
        )
    return name


def comparable_name(name: str) -> str:
    """The name without differences of case, of forms of the same character and of invisible characters."""
    return _INVISIBLE.sub("", unicodedata.normalize("NFKC", name.strip())).casefold()


def password(raw: str) -> str:
    """`raw` in one form, if it may be a password. Raises InvalidRequest naming `password`, without quoting it."""
    text = plain_password(raw)
    if len(text) < SHORTEST_PASSWORD or len(text.encode("utf-8", "surrogatepass")) > LONGEST_PASSWORD:
        raise InvalidRequest(
            f"The password must have at least {SHORTEST_PASSWORD} characters, and at most {LONGEST_PASSWORD} bytes.",
            code="validation_error",
            field="password",
        )
    return text


def plain_password(raw: str) -> str:
    """A password in the form in which it is hashed: keyboards compose the same characters differently."""
    return unicodedata.normalize("NFKC", raw)
