"""A key as answers tell it, without its secret: in lists of keys, and where it goes on when somebody's rights end."""

from datetime import datetime
from typing import Literal

from mnemoir.core.api_keys import ApiKey
from mnemoir.core.clock import to_text
from mnemoir.core.scope import Role
from mnemoir.core.usage import Limits
from mnemoir.server.answer import JsonObject


class KeyTerms(JsonObject):
    """What a key may, and until when. `projects`, `user` and `configs` are what it is bound to, null for all."""

    id: str
    role: Role
    tenant: str
    projects: list[str] | None
    user: str | None
    configs: list[str] | None
    label: str
    created_by: str
    expires_at: str | None


class KeyRecord(KeyTerms):
    """A key without its secret. `projects` and `user` are null for all; `state` is as of now.

    `limits` are the quotas that it has of its own, by name.
    """

    state: Literal["valid", "expired", "revoked"]
    created_at: str
    revoked_at: str | None
    replaced_by: str | None
    last_used_at: str | None
    limits: dict[str, int]


class LiveKey(KeyTerms):
    """A valid key. `projects`, `user` and `configs` are what it is bound to, null for all; `end` ends it."""

    end: str


def key_json(key: ApiKey, limits: Limits) -> KeyRecord:
    """The record of a key, with its own quotas."""
    return {
        **_terms_json(key),
        "state": key.state,
        "created_at": to_text(key.created_at),
        "revoked_at": _text(key.revoked_at),
        "replaced_by": key.replaced_by,
        "last_used_at": _text(key.last_used_at),
        "limits": limits_json(limits),
    }


def live_key_json(key: ApiKey) -> LiveKey:
    """The record of a key that goes on, with the request that ends it."""
    return {**_terms_json(key), "end": f"DELETE /api/keys/{key.id}"}


def limits_json(limits: Limits) -> dict[str, int]:
    """Quotas by name."""
    return {str(what): most for what, most in limits.items()}


def _terms_json(key: ApiKey) -> KeyTerms:
    return {
        "id": key.id,
        "role": key.role,
        "tenant": key.tenant,
        "projects": None if key.projects is None else list(key.projects),
        "user": key.user,
        "configs": None if key.configs is None else list(key.configs),
        "label": key.label,
        "created_by": key.created_by,
        "expires_at": _text(key.expires_at),
    }


def _text(at: datetime | None) -> str | None:
    return None if at is None else to_text(at)
