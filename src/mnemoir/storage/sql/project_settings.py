"""What projects set for themselves, a row each."""

from dataclasses import asdict

from mnemoir.ports.memory_store import Project
from mnemoir.ports.project_settings import ProjectSettings, ProjectSettingsStore
from mnemoir.storage.sql.engine import Engine, Sql
from mnemoir.storage.sql.queries import queries

_QUERIES = queries("project_settings")


class SqlProjectSettings:
    """`db` is the caller's."""

    def __init__(self, db: Engine) -> None:
        self._db = db

    async def load(self, project: Project) -> ProjectSettings:
        """What the project has set; all None for an unknown project."""

        def look(sql: Sql) -> ProjectSettings:
            row = sql.row(_QUERIES["load_settings"], **asdict(project))
            if row is None:
                return ProjectSettings()
            enabled, decay_days, search_limit, prompt = row
            return ProjectSettings(
                memory_enabled=None if enabled is None else bool(enabled),
                decay_days=decay_days,
                search_limit=search_limit,
                extraction_prompt=prompt,
            )

        return await self._db.read(None, look)

    async def save(self, project: Project, settings: ProjectSettings) -> None:
        """Replace what the project has set."""
        values = {**asdict(project), **asdict(settings)}
        await self._db.write(None, lambda sql: sql.run(_QUERIES["save_settings"], **values))


_: type[ProjectSettingsStore] = SqlProjectSettings  # checked, never run
