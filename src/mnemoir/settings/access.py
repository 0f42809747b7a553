"""The settings of who may call the server and what they may use, and of how what they say is kept safe."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, SecretStr
from pydantic.functional_validators import AfterValidator

from mnemoir.ports.project_settings import PiiAction
from mnemoir.settings.issuers import SignInIssuers, TokenIssuers
from mnemoir.settings.memory_config import Section
from mnemoir.settings.values import AbsolutePath, Names, lower_or_off, path_or_dsn, split_list

COST_OF_INFERENCE = 4  # of an add from which a model extracts memories, in requests
_REDIS_URL = re.compile(r"(?:redis|valkey)(?:s|\+unix)?://")
_COUNTRY = re.compile(r"[A-Za-z]{2}", re.ASCII)
_FUNCTION = re.compile(r"[A-Za-z_][\w.-]*(?::[A-Za-z_][\w.]*)?", re.ASCII)

EncryptionMode = Literal["off", "fields"]
PlainPlace = Literal["conversations", "discussions", "etienne", "pii", "records"]


def _codes(raw: object) -> object:
    """Codes of countries; YAML reads that of Norway as false."""
    parts = split_list(raw)
    return tuple("NO" if code is False else code for code in parts) if isinstance(parts, list | tuple) else parts


def _country(raw: str) -> str:
    if not _COUNTRY.fullmatch(raw):
        raise ValueError("must be ISO codes of countries with two letters, such as DE")
    return raw.upper()


def _function(raw: str) -> str:
    if not _FUNCTION.fullmatch(raw):
        raise ValueError("must name an entry point of mnemoir.detectors, or a function as module:function")
    return raw


def _pepper(raw: SecretStr) -> SecretStr:
    text = raw.get_secret_value().strip()
    if len(text) < 16:
        raise ValueError("must have at least 16 characters")
    return SecretStr(text)


Most = Annotated[int, Field(ge=0)] | None
Countries = Annotated[tuple[Annotated[str, AfterValidator(_country)], ...], BeforeValidator(_codes)]


def _redis_url(raw: SecretStr) -> SecretStr:
    if not _REDIS_URL.match(raw.get_secret_value()):
        raise ValueError("must begin with redis://, rediss:// or redis+unix://, or valkey in place of redis")
    return raw


class Redis(Section):
    """A Redis or Valkey that several servers share, for what may be lost."""

    url: Annotated[SecretStr, AfterValidator(_redis_url)] | None = None
    prefix: str = Field(default="mn:default", min_length=1, max_length=64, pattern=r"^[\w:.-]+$")
    timeout_s: float = Field(default=0.05, gt=0, le=60)


class Limits(Section):
    """The most requests of one key in 10 seconds (`burst`) and in a minute, by kind."""

    enabled: bool = False
    chat_burst: int = Field(default=20, ge=1)
    chat_per_minute: int = Field(default=120, ge=1)
    add_burst: int = Field(default=60, ge=COST_OF_INFERENCE)
    add_per_minute: int = Field(default=600, ge=COST_OF_INFERENCE)
    search_burst: int = Field(default=100, ge=1)
    search_per_minute: int = Field(default=1200, ge=1)
    read_burst: int = Field(default=200, ge=1)
    read_per_minute: int = Field(default=3000, ge=1)
    admin_burst: int = Field(default=20, ge=1)
    admin_per_minute: int = Field(default=120, ge=1)

    @property
    def sizes(self) -> Mapping[str, tuple[int, int]]:
        """Both sizes of each kind; none unless limits are on."""
        if not self.enabled:
            return {}
        return {
            "chat": (self.chat_burst, self.chat_per_minute),
            "add": (self.add_burst, self.add_per_minute),
            "search": (self.search_burst, self.search_per_minute),
            "read": (self.read_burst, self.read_per_minute),
            "admin": (self.admin_burst, self.admin_per_minute),
        }


class Quota(Section):
    """The most that one user, or one tenant, may have and use; None is no limit. Days and months are those of UTC."""

    memories: Most = None
    memory_bytes: Most = None
    messages: Most = None
    attachment_bytes: Most = None
    disk_bytes: Most = None
    tokens_day: Most = None
    tokens_month: Most = None
    concurrent_chats: Most = None


class Quotas(Section):
    """The quotas of each user and of each tenant, unless a tenant or a key has its own."""

    user: Quota = Quota()
    tenant: Quota = Quota()


class Security(Section):
    """Secrets of the server itself. Without a `pepper`, one is made with the first key, in the data directory."""

    pepper: Annotated[SecretStr, AfterValidator(_pepper)] | None = None


class Auth(Section):
    """Callers who are known otherwise than by a key: for how long people stay signed in, and by whose word they are.

    A session ends some hours after its last use, and some days after its begin. `jwt` are the issuers of tokens, and
    `oidc` those that people sign in with.
    """

    session_hours: float = Field(default=12, gt=0, le=8760, allow_inf_nan=False)
    session_days: float = Field(default=30, gt=0, le=365, allow_inf_nan=False)
    jwt: TokenIssuers = ()
    oidc: SignInIssuers = ()

    @property
    def has_issuers(self) -> bool:
        """Whether callers are known by somebody else's word, so that requests need a credential."""
        return bool(self.jwt or self.oidc)


class Audit(Section):
    """The log of what is done with keys, settings and all of somebody's data; it needs keys."""

    enabled: bool = True
    keep_days: int = Field(default=400, ge=1, le=36_500)
    anchor: AbsolutePath | None = None


class PiiPolicy(Section):
    """What is done with personal data in facts, in messages, and in what models are sent."""

    facts: Annotated[PiiAction, BeforeValidator(lower_or_off)] = "off"
    messages: Annotated[PiiAction, BeforeValidator(lower_or_off)] = "off"
    models: Annotated[PiiAction, BeforeValidator(lower_or_off)] = "off"


class Pii(Section):
    """Personal data: what is done with it in projects without a policy of their own, and what counts as such."""

    policy: PiiPolicy = PiiPolicy()
    regions: Countries = ()
    countries: Countries = ()
    detector: Annotated[str, AfterValidator(_function)] | None = None
    restore: bool = True
    reversible: bool = False


class Retention(Section):
    """For how many days things are kept; None for ever. `backups_days` is only told: nothing deletes backups."""

    memories_days: int | None = Field(default=None, ge=1, le=36_500)
    history_days: int | None = Field(default=None, ge=1, le=36_500)
    deleted_days: int | None = Field(default=None, ge=1, le=36_500)
    backups_days: int | None = Field(default=None, ge=1, le=36_500)


class Encryption(Section):
    """Encryption of what is stored. `provider` keeps the key that wraps all others, `store` the wrapped ones.

    `store` is a file, or the connection string of a PostgreSQL database.

    A provider that is not built in is listed under the entry point `mnemoir.key_providers`. Without a `store`, it is
    `secrets/data-keys.db` in the data directory.
    """

    mode: Annotated[EncryptionMode, BeforeValidator(lower_or_off)] = "off"
    provider: Annotated[str, Field(min_length=1)] = "file"
    key_file: AbsolutePath | None = None
    key_variable: Annotated[str, Field(min_length=1)] = "ENCRYPTION_KEY"
    key_command: Names = ()
    store: Annotated[SecretStr | AbsolutePath | None, BeforeValidator(path_or_dsn)] = None
    allow_plain: Annotated[tuple[PlainPlace, ...], BeforeValidator(split_list)] = ()

    @property
    def store_file(self) -> Path | None:
        """The file of the wrapped keys that is named; None for none, and for a database."""
        return self.store if isinstance(self.store, Path) else None

    @property
    def store_dsn(self) -> str | None:
        """The connection string of the database of the wrapped keys; None for a file."""
        return self.store.get_secret_value() if isinstance(self.store, SecretStr) else None
