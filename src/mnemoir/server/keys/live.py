"""A key that goes on when somebody's rights end: what it may, and how to end it."""

from mnemoir.core.api_keys import ApiKey
from mnemoir.core.clock import to_text
from mnemoir.core.scope import Role
from mnemoir.server.rest import JsonObject


class LiveKey(JsonObject):
    """A valid key. `projects`, `user` and `configs` are what it is bound to, null for all; `end` ends it."""

    id: str
    label: str
    role: Role
    tenant: str
    projects: list[str] | None
    user: str | None
    configs: list[str] | None
    created_by: str
    expires_at: str | None
    end: str


def live_key_json(key: ApiKey) -> LiveKey:
    """The record of a key."""
    return {
        "id": key.id,
        "label": key.label,
        "role": key.role,
        "tenant": key.tenant,
        "projects": None if key.projects is None else list(key.projects),
        "user": key.user,
        "configs": None if key.configs is None else list(key.configs),
        "created_by": key.created_by,
        "expires_at": None if key.expires_at is None else to_text(key.expires_at),
        "end": f"DELETE /api/keys/{key.id}",
    }
