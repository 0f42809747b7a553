"""Settings of projects, which take precedence over the server's settings."""

from dataclasses import dataclass
from typing import Protocol

from mnemoir.ports.memory_store import Project


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectSettings:
    """The settings of one project. None means that the server's setting applies.

    `memory_enabled` False switches memory in chats off; `decay_days` 0 switches decay off; `search_limit` 0 means no
    limit of the project's own.
    """

    memory_enabled: bool | None = None
    decay_days: float | None = None
    search_limit: int | None = None
    extraction_prompt: str | None = None


class ProjectSettingsStore(Protocol):
    """A store of project settings. Both methods raise StorageUnavailable."""

    async def load(self, project: Project) -> ProjectSettings:
        """The settings of the project; all None for an unknown project."""

    async def save(self, project: Project, settings: ProjectSettings) -> None:
        """Replace the settings of the project."""
