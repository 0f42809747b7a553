"""Opens all running parts from the settings in one place, and closes them in the reverse order."""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, Protocol, TypeVar

from mnemoir.app import remembering
from mnemoir.app.access import Access, open_access
from mnemoir.app.adopting import Adoption
from mnemoir.app.chat_memory import chat_memory, open_memory_service, points_here
from mnemoir.app.client_embedding import ClientEmbedding
from mnemoir.app.connecting import ModelConnection, open_model
from mnemoir.app.conversation_parts import open_conversations, recording_options
from mnemoir.app.conversations import Conversations
from mnemoir.app.discussions import Discussions
from mnemoir.app.embedding_connection import EmbeddingConnection, OpenEmbedding
from mnemoir.app.encryption import Encryption
from mnemoir.app.endpoints import Endpoints
from mnemoir.app.health import Checkup
from mnemoir.app.kinds import Forgetting, conversation_kind, discussion_kind, job_kind, run_kind
from mnemoir.app.latencies import MemoryTimes, TimedMemory
from mnemoir.app.memory_parts import fact_settings, multilingual_of, open_storage
from mnemoir.app.message_vectors import MessageVectors, WaitingFolders
from mnemoir.app.model_in_use import ModelInUse
from mnemoir.app.models import ModelInquiry, choose_multilingual
from mnemoir.app.people import Everybody
from mnemoir.app.personal_data import discreet_embedding, make_discreet, make_personal_data, make_rules
from mnemoir.app.pruning import Pruning
from mnemoir.app.recording import Recorder
from mnemoir.app.remembering import Turns
from mnemoir.app.retention import RetentionOf
from mnemoir.app.stock import Stock
from mnemoir.app.subjects import Subjects
from mnemoir.app.titles import Titles, choose_namer
from mnemoir.app.tree import CONVERSATIONS, open_tree, outside
from mnemoir.app.usage.quotas import Quotas
from mnemoir.app.usage.spent import Metered, Spent
from mnemoir.app.usage.stored import StoredAmounts
from mnemoir.app.workflow_edits import WorkflowEdits
from mnemoir.app.workflow_files import WorkflowFiles
from mnemoir.app.workflows import (
    forwarding_of,
    make_workflows,
    open_discussions,
    open_kept_runs,
    open_model_servers,
    open_runs,
)
from mnemoir.core.clock import utc_now
from mnemoir.memory.background import Background, Handler
from mnemoir.memory.facts import Facts
from mnemoir.memory.facts.kind import fact_kind
from mnemoir.memory.facts.proposal_kind import proposal_kind
from mnemoir.memory.facts.retention import FactRetention
from mnemoir.memory.reembedding import Reembedding, second_vectors, terms_renewal
from mnemoir.ports.embedding import EmbeddingModel
from mnemoir.ports.jobs import Job, JobQueue
from mnemoir.ports.llm import ChatModel
from mnemoir.ports.memory_kinds import MemoryKind
from mnemoir.ports.memory_store import MemoryStore
from mnemoir.ports.project_settings import ProjectFiles, ProjectSettingsStore
from mnemoir.ports.proposals import ProposalStore
from mnemoir.ports.run_store import RunStore
from mnemoir.privacy.handling import PersonalData
from mnemoir.privacy.models import DiscreetServers
from mnemoir.providers.http import new_session
from mnemoir.providers.memory_service import HttpMemoryService
from mnemoir.search.indexing import FactEmbedding, Indexing
from mnemoir.search.recall import Recall
from mnemoir.settings import Settings
from mnemoir.settings.saved_model import EMBEDDING_MODEL, LANGUAGE_MODEL
from mnemoir.storage.files import FileMemoryStore, FileProjectFiles
from mnemoir.storage.pack_files import PackFiles
from mnemoir.storage.private_folders import close_folders
from mnemoir.storage.sql import SqlJobQueue, SqlMemoryStore, SqlProposals
from mnemoir.storage.sql.forgetting import ERASE
from mnemoir.storage.sql.holds import Holds
from mnemoir.storage.sql.people import People
from mnemoir.storage.sql.tables import CONVERSATION_TABLES, FACT_TABLES, JOB_TABLES, PROPOSAL_TABLES
from mnemoir.storage.sql.usage import SqlUsage
from mnemoir.storage.sqlite import SqliteEngine, open_database
from mnemoir.workflows.discussion_files import OWN_DISCUSSIONS
from mnemoir.workflows.dispatch import Workflows
from mnemoir.workflows.trials import Trials

DATABASE_FILE = "mnemoir.db"
CACHE = "cache"
PACKS_FOLDER = f"{CACHE}/memories"


class _Closable(Protocol):
    async def aclose(self) -> None: ...


Owned = TypeVar("Owned", bound=_Closable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The parts that HTTP, MCP and the command line use. Call `start` before serving, `aclose` at the end."""

    settings: Settings
    access: Access
    quotas: Quotas
    encryption: Encryption
    packs: PackFiles
    database: SqliteEngine
    store: MemoryStore
    jobs: JobQueue
    project_settings: ProjectSettingsStore
    personal_data: PersonalData
    project_files: ProjectFiles | None  # None where no project is kept in files
    in_use: ModelInUse
    connection: ModelConnection
    embedding_connection: EmbeddingConnection
    embedding: EmbeddingModel
    client_embedding: ClientEmbedding
    indexing: Indexing
    facts: Facts
    proposals: ProposalStore
    workflows: Workflows
    workflow_files: WorkflowFiles
    workflow_edits: WorkflowEdits
    trials: Trials | None  # None without a config tree
    conversations: Conversations
    recorder: Recorder
    titles: Titles
    kinds: list[MemoryKind]
    forgetting: Forgetting
    holds: Holds
    subjects: Subjects
    adoption: Adoption
    retention: RetentionOf
    pruning: Pruning
    discussions: Discussions
    runs: RunStore
    memory_service: HttpMemoryService
    background: Background
    message_vectors: MessageVectors
    reembedding: Reembedding
    second_vectors: Reembedding | None  # None without a multilingual model
    terms: Reembedding | None  # None for files, whose terms are made anew when they are read
    checkup: Checkup
    inquiry: ModelInquiry
    stock: Stock
    times: MemoryTimes
    started_at: datetime = field(default_factory=utc_now)
    started: float = field(default_factory=monotonic)  # on the clock of `time.monotonic`
    _open: AsyncExitStack

    async def start(self) -> None:
        """Start the background work, over folders that are closed to others."""
        await asyncio.to_thread(close_folders, _own_folders(self.settings))
        await self.background.start()
        self.message_vectors.start()
        for filling in (self.reembedding, self.second_vectors, self.terms):
            if filling is not None:
                filling.start()
        self.pruning.start()
        self.access.start()
        self.encryption.start(self.database, self.packs, self.conversations)

    async def aclose(self) -> None:
        """Close all parts, last opened first."""
        await self._open.aclose()

    @property
    def model(self) -> ChatModel:
        """The language model of now."""
        return self.in_use.now()

    @property
    def serves_its_own_memory(self) -> bool:
        """True when the memory URL is that of this server."""
        return points_here(self.settings)


def _own_folders(settings: Settings) -> list[Path]:
    """The folders in the data directory that only Mnemoir fills."""
    return [settings.storage.data_dir / name for name in (CONVERSATIONS, OWN_DISCUSSIONS, CACHE)]


async def open_parts(settings: Settings) -> Parts:
    """Open all parts. Raises SettingsError, StorageUnavailable; parts opened before a failure are closed again."""
    async with AsyncExitStack() as opened:

        def own(part: Owned) -> Owned:
            opened.push_async_callback(part.aclose)
            return part

        served = open_tree(settings)
        session = await opened.enter_async_context(new_session())
        careful = await opened.enter_async_context(new_session(is_careful=True))
        for saved in (LANGUAGE_MODEL, EMBEDDING_MODEL):
            saved.drop_former_keys(settings.storage.data_dir)  # of a save that was killed
        rules = make_rules(settings)
        discreet = make_discreet(settings, rules)
        in_use = own(ModelInUse(await open_model(settings, session, careful), discreet))
        open_embedding = await asyncio.to_thread(OpenEmbedding, settings, session, careful)
        embedding_connection = EmbeddingConnection(settings, open_embedding, careful)
        settings = open_embedding.settings
        embedding = discreet_embedding(settings, rules, own(open_embedding.model))
        encryption = own(Encryption(settings))
        database = own(open_database(settings.storage.data_dir / DATABASE_FILE, encryption.open_sql))
        await encryption.refuse_lost_store(database)
        access = open_access(settings, careful, settings.storage.data_dir / CACHE, own)
        packs = PackFiles(settings.storage.data_dir / PACKS_FOLDER, encryption.cells)
        pending = asyncio.Event()  # set when a memory without a vector was stored or found
        second_pending = asyncio.Event()  # the same for second vectors
        spent = own(Spent(SqlUsage(database)))
        await spent.load()
        quotas = Quotas(settings, spent, access.tenants.limits_of)
        store, project_settings = open_storage(
            settings, database, packs, pending.set, second_pending.set, partial(quotas.adding, what="memories")
        )
        personal_data, personal_kind = make_personal_data(settings, rules, project_settings, database, access.file)
        second_model = choose_multilingual(settings)
        multilingual = multilingual_of(settings, second_model, store.second.want, second_pending.set)
        if multilingual is not None:
            own(multilingual)
        in_database = store if isinstance(store, SqlMemoryStore) else None
        for_facts = FactEmbedding(embedding)
        recall = own(
            Recall(
                store,
                for_facts,
                former=for_facts.former,
                packs=packs if in_database else None,  # files are read anew by each process
                note_pending=pending.set,
                multilingual=multilingual,
                of_all_times=in_database.of_all_times if in_database else None,
            )
        )
        indexing = Indexing(for_facts, multilingual=settings.embedding.multilingual if multilingual else "off")
        proposals = SqlProposals(database)
        facts = Facts(
            store=own(store),
            proposals=proposals,
            recall=recall,
            indexing=indexing,
            model=in_use.now,
            project_settings=project_settings,
            defaults=fact_settings(settings),
            personal=personal_data,
        )
        service = open_memory_service(settings, session)
        times = MemoryTimes()
        timed = TimedMemory(service, times, writes=not points_here(settings))
        jobs = SqlJobQueue(database)
        waiting = WaitingFolders()
        of_messages = multilingual_of(settings, second_model)
        conversations = own(
            open_conversations(
                settings, in_use.now, embedding, of_messages, database, waiting, quotas.ask, encryption.cells
            )
        )
        quotas.count_in(own(StoredAmounts(store, conversations)))
        handlers = {remembering.KIND: remembering.rememberer(timed), ERASE: _eraser(database)}
        background = own(Background(jobs, handlers))
        second = None if second_model is None else own(_second(store, second_model, background, second_pending))
        runs = own(open_runs(settings, encryption.open_sql))
        turns = Turns(background, conversations)
        memory = chat_memory(settings, timed, turns, project_settings, facts, personal_data)
        kept = open_discussions(embedding, own)
        model_servers = open_model_servers(settings, session)
        workflows, discussions, trials = make_workflows(
            settings,
            served,
            in_use.now,
            memory,
            kept,
            conversations,
            runs,
            lambda watcher: Metered(watcher, spent),
            DiscreetServers(model_servers, discreet),
            session,
            own,
        )
        holds = Holds(database)
        everybody = Everybody(People(database), store, conversations, runs, holds)
        retention = RetentionOf(settings, access.tenants, project_settings)
        kinds = [
            job_kind(background, JOB_TABLES),
            run_kind(runs),
            fact_kind(
                facts, store, indexing, FACT_TABLES, FactRetention(store, everybody.owners, retention.of).expire
            ),
            proposal_kind(facts.review, proposals, PROPOSAL_TABLES),
            discussion_kind(discussions, conversations),
            personal_kind,
            conversation_kind(conversations, CONVERSATION_TABLES, embeds=settings.memory.vector_store.enabled),
        ]
        beside = outside(settings, served.tree if served else None)
        workflow_files = WorkflowFiles(served, beside)
        titles = own(Titles(conversations, choose_namer(settings, in_use, served, trials, quotas), quotas))
        recorder = own(
            Recorder(conversations, workflows, turns, runs, recording_options(settings), titles, personal_data)
        )
        forgetting = Forgetting(conversations=conversations, kinds=kinds, holds=holds)
        subjects = Subjects(
            data_dir=settings.storage.data_dir,
            everybody=everybody,
            forgetting=forgetting,
            conversations=conversations,
            discussions=discussions,
            runs=runs,
            open_kept_runs=partial(open_kept_runs, settings),
            access=access,
            spent=spent,
            background=background,
            recall=recall,
            kinds=kinds,
            encryption=encryption,
            backups_days=settings.retention.backups_days,
        )
        return Parts(
            settings=settings,
            access=access,
            quotas=quotas,
            encryption=encryption,
            packs=packs,
            database=database,
            store=store,
            jobs=jobs,
            project_settings=project_settings,
            personal_data=personal_data,
            project_files=_project_files(settings),
            in_use=in_use,
            connection=own(
                ModelConnection(settings, in_use, session=session, careful=careful, serves_tree=workflows.serves_tree)
            ),
            embedding_connection=embedding_connection,
            embedding=embedding,
            client_embedding=ClientEmbedding(embedding, forwarding_of(settings).forward),
            indexing=indexing,
            facts=facts,
            proposals=proposals,
            memory_service=service,
            background=background,
            message_vectors=own(MessageVectors(conversations, background, waiting, model=embedding.name)),
            reembedding=own(Reembedding(store, indexing, for_facts, background, pending)),
            second_vectors=second,
            terms=own(terms_renewal(in_database.terms, background)) if in_database else None,
            runs=runs,
            workflows=workflows,
            workflow_files=workflow_files,
            trials=trials,
            workflow_edits=WorkflowEdits(
                workflow_files, served, beside, settings.storage.data_dir, is_on=settings.workflows.edit
            ),
            conversations=conversations,
            recorder=recorder,
            titles=titles,
            kinds=kinds,
            forgetting=forgetting,
            holds=holds,
            subjects=subjects,
            retention=retention,
            adoption=Adoption(
                everybody=everybody,
                conversations=conversations,
                background=background,
                recall=recall,
                packs=packs,
                holds=holds,
                why_not=_why_nothing_is_given(settings, encryption),
            ),
            pruning=own(Pruning(kinds, conversations.root, settings.memory.auto_prune_days)),
            discussions=discussions,
            checkup=own(
                Checkup(
                    settings, in_use, embedding, Endpoints(served, model_servers, session), open_embedding.session
                )
            ),
            inquiry=own(ModelInquiry(in_use)),
            stock=own(Stock(settings, kinds, conversations.damaged)),
            times=times,
            _open=opened.pop_all(),
        )


def _second(
    store: SqlMemoryStore | FileMemoryStore, model: EmbeddingModel, background: Background, noted: asyncio.Event
) -> Reembedding:
    return second_vectors(store.second, model, background, noted)


def _eraser(database: SqliteEngine) -> Handler:
    """The handler of jobs that complete the deletion of a user's rows after a crash."""

    async def run(job: Job) -> Mapping[str, Any]:
        await SqlMemoryStore(database).erase()
        return {}

    return run


def _why_nothing_is_given(settings: Settings, encryption: Encryption) -> str | None:
    """Why memories of one user cannot become those of another; None where they can."""
    if encryption.cells is not None:  # also where it was switched off: something may still be encrypted
        return "What is, or was, encrypted belongs to the key of its user and cannot be moved. Export and import it."
    if settings.storage.backend == "file":
        return "Memories in project files cannot be moved: their files name the user. Export and import them."
    return None


def _project_files(settings: Settings) -> ProjectFiles | None:
    return FileProjectFiles(settings.storage.workspace_root) if settings.storage.backend == "file" else None
