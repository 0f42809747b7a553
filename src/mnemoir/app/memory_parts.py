"""The parts of fact memory that the settings choose: stores, the model for other languages, and own settings."""

from collections.abc import Awaitable, Callable

from mnemoir.core.scope import Scope
from mnemoir.memory.facts import FactSettings
from mnemoir.ports.embedding import EmbeddingModel
from mnemoir.ports.memory_store import Room
from mnemoir.ports.project_settings import ProjectSettingsStore
from mnemoir.search.questions import Multilingual
from mnemoir.settings import Settings
from mnemoir.storage.files import FileMemoryStore, FileProjectSettings, clear_leftovers
from mnemoir.storage.pack_files import PackFiles
from mnemoir.storage.sql import SqlMemoryStore, SqlProjectSettings
from mnemoir.storage.sqlite import SqliteEngine


def open_storage(
    settings: Settings,
    database: SqliteEngine,
    packs: PackFiles,
    note_pending: Callable[[], None],
    note_second: Callable[[], None],
    room: Room,
) -> tuple[SqlMemoryStore | FileMemoryStore, ProjectSettingsStore]:
    """The stores of memories and of projects' settings that the settings choose."""
    if settings.storage.backend == "file":
        root = settings.storage.workspace_root
        clear_leftovers(root)
        return FileMemoryStore(
            root, database, note_pending=note_pending, note_second=note_second, room=room
        ), FileProjectSettings(root)
    store = SqlMemoryStore(database, packs=packs, note_pending=note_pending, note_second=note_second, room=room)
    return store, SqlProjectSettings(database)


def multilingual_of(
    settings: Settings,
    model: EmbeddingModel | None,
    want: Callable[[Scope], Awaitable[bool]] | None = None,
    note_pending: Callable[[], None] = lambda: None,
) -> Multilingual | None:
    """What embeds other languages; None without a model for them."""
    if model is None:
        return None
    always = settings.embedding.multilingual == "always"
    patience_s = settings.memory.search_timeout_s / 2  # so a chat gets its memories, even while the model loads
    return Multilingual(model, want, note_pending, always=always, patience_s=patience_s)


def fact_settings(settings: Settings) -> FactSettings:
    """The settings of fact memory."""
    return FactSettings(
        decay_days=settings.memory.decay_days,
        touch_on_none=settings.memory.touch_on_none,
        recall_unlikely=settings.memory.recall_unlikely,
        review=settings.memory.review,
        learn_from=settings.memory.learn_from,
        quarantine=settings.memory.quarantine,
    )
