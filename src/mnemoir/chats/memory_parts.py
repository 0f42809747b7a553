"""Fact memory as the settings choose it: its stores, models and own settings, and what embeds texts anew."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from mnemoir.access.opening import Access
from mnemoir.access.personal_data import make_personal_data
from mnemoir.chats.quotas import Quotas
from mnemoir.core.data_directory import MEMORY_PACKS
from mnemoir.core.owning import Own
from mnemoir.core.scope import Scope
from mnemoir.memory.background import Background, Handler
from mnemoir.memory.facts import Facts, FactSettings
from mnemoir.memory.reembedding import Reembedding, second_vectors, terms_renewal
from mnemoir.models.model_parts import Models
from mnemoir.ports.embedding import EmbeddingModel
from mnemoir.ports.holdings import OpenHolding
from mnemoir.ports.jobs import Job
from mnemoir.ports.memory_store import Room
from mnemoir.ports.project_settings import ProjectFiles, ProjectSettingsStore
from mnemoir.privacy.handling import PersonalData
from mnemoir.search.indexing import FactEmbedding, Indexing
from mnemoir.search.questions import Multilingual
from mnemoir.search.recall import Recall
from mnemoir.settings import Settings
from mnemoir.storage.files import FileMemoryStore, FileProjectFiles, FileProjectSettings, clear_leftovers
from mnemoir.storage.pack_files import PackFiles
from mnemoir.storage.sealing.cells import Cells
from mnemoir.storage.sql import SqlMemoryStore, SqlProjectSettings, SqlProposals
from mnemoir.storage.sqlite import SqliteEngine


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """The facts and what they are kept in."""

    database: SqliteEngine
    store: SqlMemoryStore | FileMemoryStore
    packs: PackFiles
    project_settings: ProjectSettingsStore
    project_files: ProjectFiles | None  # None where no project is kept in files
    personal_data: PersonalData
    personal_holding: OpenHolding
    proposals: SqlProposals
    recall: Recall
    indexing: Indexing
    facts: Facts
    second_model: EmbeddingModel | None  # for other languages
    embedding: FactEmbedding
    pending: asyncio.Event  # set when a memory without a vector was stored or found
    second_pending: asyncio.Event  # the same for second vectors

    def reembedding(self, background: Background, own: Own) -> Reembedding:
        """What makes missing vectors."""
        return own(Reembedding(self.store, self.indexing, self.embedding, background, self.pending))

    def second_vectors(self, background: Background, own: Own) -> Reembedding | None:
        """What makes missing second vectors; None without a multilingual model."""
        if self.second_model is None:
            return None
        return own(second_vectors(self.store.second, self.second_model, background, self.second_pending))

    def terms(self, background: Background, own: Own) -> Reembedding | None:
        """What makes outdated terms anew; None for files, whose terms are made when they are read."""
        if not isinstance(self.store, SqlMemoryStore):
            return None
        return own(terms_renewal(self.store.terms, background))


def open_memory(
    settings: Settings,
    models: Models,
    access: Access,
    quotas: Quotas,
    database: SqliteEngine,
    cells: Cells | None,
    own: Own,
) -> Memory:
    """Open it; `cells` encrypt what is kept beside the `database`. Parts to be closed are passed to `own`."""
    packs = PackFiles(settings.storage.data_dir / MEMORY_PACKS, cells)
    room = partial(quotas.adding, what="memories")
    pending, second_pending = asyncio.Event(), asyncio.Event()
    store, project_settings = _storage(settings, database, packs, pending.set, second_pending.set, room)
    personal_data, personal_holding = make_personal_data(
        settings, models.rules, project_settings, database, access.file
    )
    second_model = models.multilingual
    multilingual = multilingual_of(settings, second_model, store.second.want, second_pending.set)
    if multilingual is not None:
        own(multilingual)
    embedding = FactEmbedding(models.embedding)
    recall = own(_recall(store, embedding, packs, multilingual, pending.set))
    indexing = Indexing(embedding, multilingual=settings.embedding.multilingual if multilingual else "off")
    proposals = SqlProposals(database)
    facts = Facts(
        store=own(store),
        proposals=proposals,
        recall=recall,
        indexing=indexing,
        model=models.in_use.now,
        project_settings=project_settings,
        defaults=_fact_settings(settings),
        personal=personal_data,
        used=access.spent.note_reply,
    )
    return Memory(
        database=database,
        store=store,
        packs=packs,
        project_settings=project_settings,
        project_files=_project_files(settings),
        personal_data=personal_data,
        personal_holding=personal_holding,
        proposals=proposals,
        recall=recall,
        indexing=indexing,
        facts=facts,
        second_model=second_model,
        embedding=embedding,
        pending=pending,
        second_pending=second_pending,
    )


def _recall(
    store: SqlMemoryStore | FileMemoryStore,
    embedding: FactEmbedding,
    packs: PackFiles,
    multilingual: Multilingual | None,
    note_pending: Callable[[], None],
) -> Recall:
    """The search over facts."""
    in_database = store if isinstance(store, SqlMemoryStore) else None
    return Recall(
        store,
        embedding,
        packs=packs if in_database else None,  # files are read anew by each process
        note_pending=note_pending,
        multilingual=multilingual,
        of_all_times=in_database.of_all_times if in_database else None,
    )


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


def _project_files(settings: Settings) -> ProjectFiles | None:
    """The files of projects; None where no project is kept in files."""
    return FileProjectFiles(settings.storage.workspace_root) if settings.storage.backend == "file" else None


def eraser(database: SqliteEngine) -> Handler:
    """The handler of jobs that complete the deletion of a user's rows after a crash."""

    async def run(job: Job) -> Mapping[str, Any]:
        await SqlMemoryStore(database).erase()
        return {}

    return run


def _storage(
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


def _fact_settings(settings: Settings) -> FactSettings:
    """The settings of fact memory."""
    return FactSettings(
        decay_days=settings.memory.decay_days,
        touch_on_none=settings.memory.touch_on_none,
        recall_unlikely=settings.memory.recall_unlikely,
        review=settings.memory.review,
        learn_from=settings.memory.learn_from,
        quarantine=settings.memory.quarantine,
    )
