"""Settings of projects, which take precedence over the server's settings, and the files of projects."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from mnemoir.core.scope import Scope
from mnemoir.ports.memory_store import Project

PiiAction = Literal["off", "tag", "redact", "block"]  # what is done with personal data
Quarantine = Literal["off", "rules", "model"]  # what finds instructions among facts
Reviewed = Literal["off", "changes", "all"]  # what extraction only proposes; changes are updates and deletions


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectSettings:
    """The settings of one project. None means that the server's setting applies.

    `memory_enabled` False switches memory in chats off; `decay_days` 0 switches decay off; `search_limit` 0 means no
    limit of the project's own. `time_zone` is the zone of its people who tell
    none. `pii_…` are for facts, messages, and what models are sent; days of 0 keep for ever.
    """

    memory_enabled: bool | None = None
    decay_days: float | None = None
    search_limit: int | None = None
    extraction_prompt: str | None = None
    review: Reviewed | None = None
    pii_facts: PiiAction | None = None
    pii_messages: PiiAction | None = None
    pii_models: PiiAction | None = None
    memories_days: int | None = None
    history_days: int | None = None
    deleted_days: int | None = None
    time_zone: str | None = None


class ProjectSettingsStore(Protocol):
    """A store of project settings. Both methods raise StorageUnavailable."""

    async def load(self, project: Project) -> ProjectSettings:
        """The settings of the project; all None for an unknown project."""

    async def change(self, project: Project, change: Callable[[ProjectSettings], ProjectSettings]) -> None:
        """Replace the settings of the project by what `change` makes of them; it may run again.

        No other change of them, of any process, comes in between.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectFile:
    """The part of a project's file that belongs to its reader; `name` is the path within the project's folder."""

    name: str
    content: bytes
    mime_type: str
    modified_at: datetime


class ProjectFiles(Protocol):
    """A fixed set of files, outside which no name leads. Both methods raise StorageUnavailable."""

    async def all(self, scope: Scope) -> list[ProjectFile]:
        """The existing files, ordered by name, without the data of other users of the project."""

    async def get(self, scope: Scope, name: str) -> ProjectFile | None:
        """The file of that name; None for any other name."""
