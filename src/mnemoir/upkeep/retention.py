"""For how long the memories of a user are kept: as the project says, else the tenant, else the settings."""

import asyncio
from collections.abc import Mapping

from mnemoir.access.tenants import Tenants
from mnemoir.core.retention import KEPT, MOST_DAYS, Kept, KeptDays, Retention, kept_days
from mnemoir.core.scope import Scope
from mnemoir.ports.memory_store import Project
from mnemoir.ports.project_settings import ProjectSettings, ProjectSettingsStore
from mnemoir.settings import Settings


class RetentionOf:
    """Methods may raise StorageUnavailable."""

    def __init__(self, settings: Settings, tenants: Tenants, projects: ProjectSettingsStore) -> None:
        chosen = settings.retention
        said = {
            "memories_days": chosen.memories_days,
            "history_days": chosen.history_days,
            "deleted_days": chosen.deleted_days,
        }
        self.of_settings: Retention = {name: said[name] or 0 for name in KEPT}
        self._tenants = tenants
        self._projects = projects

    async def project(self, project: Project) -> KeptDays:
        """For how long the memories of a project are kept."""
        return kept_days(*await self.own_and_default(project))

    async def own_and_default(self, project: Project) -> tuple[Retention, Retention]:
        """The project's own days, and the days that apply where it has none (all names are in these)."""
        own = await self._projects.load(project)
        of_tenant = await asyncio.to_thread(self._tenants.retention_of, project.tenant)
        return _of_project(own), {**self.of_settings, **of_tenant}

    async def of(self, scope: Scope) -> KeptDays:
        """For how long those of a user are kept."""
        return await self.project(Project(tenant=scope.tenant, project=scope.project))


def _of_project(own: ProjectSettings) -> Retention:
    said: Mapping[Kept, int | None] = {
        "memories_days": own.memories_days,
        "history_days": own.history_days,
        "deleted_days": own.deleted_days,
    }
    return {name: min(days, MOST_DAYS) for name, days in said.items() if days is not None}  # a file may say anything
