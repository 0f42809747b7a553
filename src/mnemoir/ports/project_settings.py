"""What a project sets for itself, over the server's settings."""

from dataclasses import dataclass
from typing import Protocol

from mnemoir.ports.memory_store import Project


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectSettings:
    """None means that the project has not set it and the server's own setting applies.

    `memory_enabled` False vetoes memory in chat; `decay_days` 0 switches decay off; `search_limit` 0 means no own
    limit.
    """

    memory_enabled: bool | None = None
    decay_days: float | None = None
    search_limit: int | None = None
    extraction_prompt: str | None = None


class ProjectSettingsStore(Protocol):
    """Raises StorageUnavailable."""

    async def load(self, project: Project) -> ProjectSettings:
        """What the project has set; all None for an unknown project."""

    async def save(self, project: Project, settings: ProjectSettings) -> None:
        """Replace what the project has set."""
