"""The projects' own settings, a row each; kept in memory until this program or another one changes any."""

from collections.abc import Callable
from dataclasses import asdict

from mnemoir.core.text import without_zeros
from mnemoir.ports.memory_store import Project
from mnemoir.ports.project_settings import ProjectSettings, ProjectSettingsStore
from mnemoir.storage.sql.engine import Engine, Sql, queries

_QUERIES = queries("project_settings")
_SUBJECT = "project_settings"

_MOST_KNOWN = 1000  # clients may name any project


class SqlProjectSettings:
    """`db` is the caller's."""

    def __init__(self, db: Engine) -> None:
        self._db = db
        self._known: dict[Project, ProjectSettings] = {}  # each chat asks for them several times
        self._version: object = None  # of what is known
        self._changes = 0  # one counts when it begins and when it ends

    async def load(self, project: Project) -> ProjectSettings:
        """The project's settings; all None for an unknown project."""
        version = self._db.version(_SUBJECT)
        if version != self._version or version is None:
            self._known.clear()
            self._version = version
        if (known := self._known.get(project)) is not None:
            return known
        changes = self._changes
        found = await self._db.read(None, lambda sql: _settings_in(sql, project))
        if version is not None and (version, changes) == (self._version, self._changes):
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[project] = found
        return found

    async def change(self, project: Project, change: Callable[[ProjectSettings], ProjectSettings]) -> None:
        """See the port."""

        def replace(sql: Sql) -> None:
            self._db.note_change(sql, _SUBJECT)  # first, so that who changes them elsewhere waits
            told = {**asdict(project), **asdict(change(_settings_in(sql, project)))}
            values = {name: without_zeros(value) if isinstance(value, str) else value for name, value in told.items()}
            sql.run(_QUERIES["save_settings"], **values)

        self._forget(project)
        try:
            await self._db.write(None, replace)
        finally:  # also when it failed: it may have been written all the same
            self._forget(project)

    def _forget(self, project: Project) -> None:
        self._changes += 1
        self._known.pop(project, None)


def _settings_in(sql: Sql, project: Project) -> ProjectSettings:
    row = sql.row(_QUERIES["load_settings"], **asdict(project))
    if row is None:
        return ProjectSettings()
    enabled, decay_days, search_limit, prompt, review, pii_facts, pii_messages, pii_models, *others = row
    memories_days, history_days, deleted_days, time_zone = others
    return ProjectSettings(
        memory_enabled=None if enabled is None else bool(enabled),
        decay_days=decay_days,
        search_limit=search_limit,
        extraction_prompt=prompt,
        review=review,
        pii_facts=pii_facts,
        pii_messages=pii_messages,
        pii_models=pii_models,
        memories_days=memories_days,
        history_days=history_days,
        deleted_days=deleted_days,
        time_zone=time_zone,
    )


_: type[ProjectSettingsStore] = SqlProjectSettings  # checked, never run
