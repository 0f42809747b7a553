"""What projects set for themselves, a row each."""

from dataclasses import asdict

import apsw

from mnemoir.ports.memory_store import Project
from mnemoir.ports.project_settings import ProjectSettings, ProjectSettingsStore
from mnemoir.storage.sqlite.database import Database
from mnemoir.storage.sqlite.queries import queries

_QUERIES = queries("project_settings")


class SqliteProjectSettings:
    """`db` is the caller's."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def load(self, project: Project) -> ProjectSettings:
        """What the project has set; all None for an unknown project."""

        def look(connection: apsw.Connection) -> ProjectSettings:
            row = connection.execute(_QUERIES["load_settings"], asdict(project)).fetchone()
            if row is None:
                return ProjectSettings()
            enabled, decay_days, search_limit, prompt = row
            return ProjectSettings(
                memory_enabled=None if enabled is None else bool(enabled),
                decay_days=decay_days,
                search_limit=search_limit,
                extraction_prompt=prompt,
            )

        return await self._db.read(look)

    async def save(self, project: Project, settings: ProjectSettings) -> None:
        """Replace what the project has set."""

        def work(connection: apsw.Connection) -> None:
            connection.execute(_QUERIES["save_settings"], {**asdict(project), **asdict(settings)})

        await self._db.write(work)


_: type[ProjectSettingsStore] = SqliteProjectSettings  # checked, never run
