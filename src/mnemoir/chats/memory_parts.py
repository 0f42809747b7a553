"""Fact memory as the settings choose it: its stores, models and own settings, and what embeds texts anew."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mnemoir.access.opening import Access
from mnemoir.access.personal_data import make_personal_data
from mnemoir.chats.clock_trust import ClockTrust
from mnemoir.chats.quotas import Quotas
from mnemoir.core.data_directory import MEMORY_PACKS
from mnemoir.core.owning import Own
from mnemoir.core.scope import Scope
from mnemoir.memory.background import Background, Handler
from mnemoir.memory.facts import Facts, FactSettings
from mnemoir.memory.facts.extract.requests import TextBound
from mnemoir.memory.names import reading
from mnemoir.memory.reembedding import Reembedding, terms_renewal, vectors_in
from mnemoir.models.model_parts import Models
from mnemoir.ports.holdings import OpenHolding
from mnemoir.ports.jobs import Job
from mnemoir.ports.languages import KeptLanguages
from mnemoir.ports.memory_store import Room
from mnemoir.ports.project_settings import ProjectFiles, ProjectSettingsStore
from mnemoir.privacy.handling import PersonalData
from mnemoir.search.indexing import FactEmbedding, Indexing
from mnemoir.search.questions import Multilingual
from mnemoir.search.recall import Recall
from mnemoir.search.spaces import MULTILINGUAL, FurtherSpace
from mnemoir.settings import Settings
from mnemoir.storage.databases import MainDatabase
from mnemoir.storage.files import FileMemoryStore, FileProjectFiles, FileProjectSettings, clear_leftovers
from mnemoir.storage.pack_files import PackFiles
from mnemoir.storage.sealing.cells import Cells
from mnemoir.storage.sql import SqlMemoryStore, SqlProjectSettings, SqlProposals
from mnemoir.storage.sql.languages import SqlLanguages


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """The facts and what they are kept in."""

    database: MainDatabase
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
    spaces: Sequence[FurtherSpace]
    embedding: FactEmbedding
    pending: asyncio.Event  # set when a memory without a vector was stored or found
    waiting: Mapping[str, asyncio.Event]  # the same for the vectors of each further space

    def reembedding(self, background: Background, own: Own) -> Reembedding:
        """What makes missing vectors."""
        forget = self.store.forget_other_lengths
        return own(Reembedding(self.store, self.indexing, self.embedding, background, self.pending, forget=forget))

    def further_vectors(self, background: Background, own: Own) -> list[Reembedding]:
        """What makes the missing vectors of each further space."""
        return [
            own(vectors_in(space, self.store.in_space(space.name), background, self.waiting[space.name]))
            for space in self.spaces
        ]

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
    database: MainDatabase,
    cells: Cells | None,
    trust: ClockTrust,
    own: Own,
) -> Memory:
    """Open it; `cells` encrypt what is kept beside the `database`. Parts to be closed are passed to `own`."""
    packs = PackFiles(settings.storage.data_dir / MEMORY_PACKS, cells)
    pending, waiting = asyncio.Event(), {space.name: asyncio.Event() for space in models.spaces}
    store, project_settings = _storage(
        settings, database, packs, pending.set, models.spaces, waiting, quotas.adding, trust
    )
    personal_data, personal_holding = make_personal_data(
        settings, models.rules, project_settings, database, access.file
    )
    embedding = FactEmbedding(models.embedding)
    languages = SqlLanguages(database) if database.incarnation is None else None  # else no other server needs them
    recall = own(_recall(settings, store, embedding, packs, models.spaces, pending, waiting, languages))
    indexing = Indexing(embedding, asks={space.name: space.asks for space in models.spaces})
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
        spaces=models.spaces,
        embedding=embedding,
        pending=pending,
        waiting=waiting,
    )


def _recall(
    settings: Settings,
    store: SqlMemoryStore | FileMemoryStore,
    embedding: FactEmbedding,
    packs: PackFiles,
    spaces: Sequence[FurtherSpace],
    pending: asyncio.Event,
    waiting: Mapping[str, asyncio.Event],
    languages: KeptLanguages | None,
) -> Recall:
    """The search over facts."""
    in_database = store if isinstance(store, SqlMemoryStore) else None
    noted = waiting.get(MULTILINGUAL, pending)
    return Recall(
        store,
        embedding,
        packs=packs if in_database else None,  # files are read anew by each process
        note_pending=pending.set,
        multilingual=multilingual_of(settings, spaces, store.in_space(MULTILINGUAL).want, noted.set, languages),
        spaces=[space.key for space in spaces],
        of_all_times=in_database.of_all_times if in_database else None,
        names=reading if settings.graph.links else None,
    )


def multilingual_of(
    settings: Settings,
    spaces: Sequence[FurtherSpace],
    want: Callable[[Scope], Awaitable[bool]] | None = None,
    note_pending: Callable[[], None] = lambda: None,
    languages: KeptLanguages | None = None,
) -> Multilingual | None:
    """What embeds questions in other languages; None without a space for them. `languages` are those of users."""
    always = settings.embedding.multilingual == "always"
    patience_s = settings.memory.search_timeout_s / 2  # so a chat gets its memories, even while the model loads
    for space in spaces:
        if space.name == MULTILINGUAL:
            return Multilingual(space.model, want, note_pending, languages, always=always, patience_s=patience_s)
    return None


def _project_files(settings: Settings) -> ProjectFiles | None:
    """The files of projects; None where no project is kept in files."""
    return FileProjectFiles(settings.storage.workspace_root) if settings.storage.backend == "file" else None


def eraser(database: MainDatabase) -> Handler:
    """The handler of jobs that complete the deletion of a user's rows after a crash."""

    async def run(job: Job) -> Mapping[str, Any]:
        await SqlMemoryStore(database).erase()
        return {}

    return run


def _storage(
    settings: Settings,
    database: MainDatabase,
    packs: PackFiles,
    note_pending: Callable[[], None],
    spaces: Sequence[FurtherSpace],
    waiting: Mapping[str, asyncio.Event],
    room: Room,
    trust: ClockTrust,
) -> tuple[SqlMemoryStore | FileMemoryStore, ProjectSettingsStore]:
    """The stores of memories and of projects' settings that the settings choose."""

    def note_waiting(space: str) -> None:
        waiting[space].set()

    of_all_facts = frozenset(space.name for space in spaces if space.of_all_facts)
    if settings.storage.backend == "file":
        root = settings.storage.workspace_root
        clear_leftovers(root)
        return FileMemoryStore(
            root,
            database,
            note_pending=note_pending,
            note_waiting=note_waiting,
            of_all_facts=of_all_facts,
            room=room,
            trusts_clock=trust.is_known_to_decide,
        ), FileProjectSettings(root)
    store = SqlMemoryStore(
        database,
        packs=packs,
        note_pending=note_pending,
        note_waiting=note_waiting,
        of_all_facts=of_all_facts,
        room=room,
        trusts_clock=trust.is_known_to_decide,
    )
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
        text_bound=TextBound(settings.memory.max_text_kib),
        time_zone=settings.memory.time_zone,
    )
