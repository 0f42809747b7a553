"""Opens all running parts from the settings in one place, and closes them in the reverse order."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from time import monotonic

from mnemoir.access.opening import Access, open_access
from mnemoir.access.spent import Metered, Spent
from mnemoir.app.user_data import Stores, make_user_data
from mnemoir.app.workflows import (
    forwarding_of,
    make_workflows,
    open_discussions,
    open_model_servers,
    open_runs,
)
from mnemoir.chats import remembering
from mnemoir.chats.chat_memory import chat_memory, open_memory_service, points_here
from mnemoir.chats.conversation_parts import open_conversations, recording_options
from mnemoir.chats.conversations import Conversations
from mnemoir.chats.discussions import Discussions
from mnemoir.chats.forgetting import Forgetting
from mnemoir.chats.memory_parts import eraser, multilingual_of, open_fact_memory, project_files_of
from mnemoir.chats.message_vectors import MessageVectors, WaitingFolders
from mnemoir.chats.pruning import Pruning
from mnemoir.chats.quotas import Quotas
from mnemoir.chats.recording import Recorder
from mnemoir.chats.remembering import Turns
from mnemoir.chats.stock import Stock
from mnemoir.chats.stored_amounts import StoredAmounts
from mnemoir.chats.titles import Titles, choose_namer
from mnemoir.core.clock import utc_now
from mnemoir.core.data_directory import CACHE, CONVERSATIONS, DATABASE_FILE, OWN_DISCUSSIONS
from mnemoir.core.owning import Owned
from mnemoir.memory.background import Background
from mnemoir.memory.facts import Facts
from mnemoir.memory.reembedding import Reembedding
from mnemoir.models.choice import ModelInquiry
from mnemoir.models.client_embedding import ClientEmbedding
from mnemoir.models.connecting import ModelConnection
from mnemoir.models.embedding_connection import EmbeddingConnection
from mnemoir.models.endpoints import Endpoints
from mnemoir.models.health import Checkup
from mnemoir.models.latencies import MemoryTimes, TimedMemory
from mnemoir.models.model_in_use import ModelInUse
from mnemoir.models.model_parts import open_models
from mnemoir.ports.embedding import EmbeddingModel
from mnemoir.ports.holdings import OpenHolding
from mnemoir.ports.jobs import JobQueue
from mnemoir.ports.llm import ChatModel
from mnemoir.ports.memory_store import MemoryStore
from mnemoir.ports.project_settings import ProjectFiles, ProjectSettingsStore
from mnemoir.ports.proposals import ProposalStore
from mnemoir.ports.run_store import RunStore
from mnemoir.privacy.handling import PersonalData
from mnemoir.privacy.models import DiscreetServers
from mnemoir.providers.http import new_session
from mnemoir.providers.memory_service import HttpMemoryService
from mnemoir.search.indexing import Indexing
from mnemoir.settings import Settings
from mnemoir.storage.pack_files import PackFiles
from mnemoir.storage.private_folders import close_folders
from mnemoir.storage.sql import SqlJobQueue
from mnemoir.storage.sql.forgetting import ERASE
from mnemoir.storage.sql.holds import Holds
from mnemoir.storage.sql.usage import SqlUsage
from mnemoir.storage.sqlite import SqliteEngine, open_database
from mnemoir.trees.served import open_tree, outside
from mnemoir.trees.workflow_edits import WorkflowEdits
from mnemoir.trees.workflow_files import WorkflowFiles
from mnemoir.upkeep.adopting import Adoption
from mnemoir.upkeep.encryption import Encryption
from mnemoir.upkeep.retention import RetentionOf
from mnemoir.upkeep.subjects import Subjects
from mnemoir.workflows.dispatch import Workflows
from mnemoir.workflows.trials import Trials

PACKS_FOLDER = f"{CACHE}/memories"


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
    holdings: list[OpenHolding]
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
        await self.adoption.resume()
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
        models = await open_models(settings, session, careful, own)
        settings = models.settings
        encryption = own(Encryption(settings))
        database = own(open_database(settings.storage.data_dir / DATABASE_FILE, encryption.open_sql))
        await encryption.refuse_lost_store(database)
        access = open_access(settings, careful, settings.storage.data_dir / CACHE, own)
        spent = own(Spent(SqlUsage(database)))
        await spent.load()
        quotas = Quotas(settings, spent, access.tenants.limits_of)
        memory = open_fact_memory(
            settings,
            models,
            database,
            PackFiles(settings.storage.data_dir / PACKS_FOLDER, encryption.cells),
            access.file,
            partial(quotas.adding, what="memories"),
            spent.note_reply,
            own,
        )
        service = open_memory_service(settings, session)
        times = MemoryTimes()
        timed = TimedMemory(service, times, writes=not points_here(settings))
        jobs = SqlJobQueue(database)
        waiting = WaitingFolders()
        conversations = own(
            open_conversations(
                settings,
                models.in_use.now,
                models.embedding,
                multilingual_of(settings, memory.second_model),
                database,
                waiting,
                quotas.ask,
                encryption.cells,
            )
        )
        handlers = {remembering.KIND: remembering.rememberer(timed), ERASE: eraser(database)}
        background = own(Background(jobs, handlers))
        runs = own(open_runs(settings, encryption.open_sql))
        turns = Turns(background, conversations)
        model_servers = open_model_servers(settings, session)
        workflows, discussions, trials = make_workflows(
            settings,
            served,
            models.in_use.now,
            chat_memory(settings, timed, turns, memory.project_settings, memory.facts, memory.personal_data),
            open_discussions(models.embedding, own),
            conversations,
            runs,
            lambda watcher: Metered(watcher, spent),
            DiscreetServers(model_servers, models.discreet),
            session,
            own,
        )
        user_data = make_user_data(
            Stores(
                settings=settings,
                database=database,
                encryption=encryption,
                access=access,
                spent=spent,
                memory=memory,
                conversations=conversations,
                discussions=discussions,
                runs=runs,
                background=background,
                holds=Holds(database),
                retention=RetentionOf(settings, access.tenants, memory.project_settings),
            )
        )
        quotas.count_in(own(StoredAmounts(user_data.holdings)))
        await user_data.adoption.hide_outstanding()
        beside = outside(settings, served.tree if served else None)
        workflow_files = WorkflowFiles(served, beside)
        titles = own(Titles(conversations, choose_namer(settings, models.in_use, served, trials, quotas), quotas))
        recorder = own(
            Recorder(conversations, workflows, turns, runs, recording_options(settings), titles, memory.personal_data)
        )
        return Parts(
            settings=settings,
            access=access,
            quotas=quotas,
            encryption=encryption,
            packs=memory.packs,
            database=database,
            store=memory.store,
            jobs=jobs,
            project_settings=memory.project_settings,
            personal_data=memory.personal_data,
            project_files=project_files_of(settings),
            in_use=models.in_use,
            connection=own(
                ModelConnection(
                    settings, models.in_use, session=session, careful=careful, serves_tree=workflows.serves_tree
                )
            ),
            embedding_connection=models.embedding_connection,
            embedding=models.embedding,
            client_embedding=ClientEmbedding(models.embedding, forwarding_of(settings).forward),
            indexing=memory.indexing,
            facts=memory.facts,
            proposals=memory.proposals,
            memory_service=service,
            background=background,
            message_vectors=own(MessageVectors(conversations, background, waiting, model=models.embedding.name)),
            reembedding=memory.reembedding(background, own),
            second_vectors=memory.second_vectors(background, own),
            terms=memory.terms(background, own),
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
            holdings=user_data.holdings,
            forgetting=user_data.forgetting,
            holds=user_data.holds,
            subjects=user_data.subjects,
            retention=user_data.retention,
            adoption=user_data.adoption,
            pruning=own(Pruning(user_data.holdings, conversations.root, settings.memory.auto_prune_days)),
            discussions=discussions,
            checkup=own(
                Checkup(
                    settings,
                    models.in_use,
                    models.embedding,
                    Endpoints(served, model_servers, session),
                    models.embedding_session,
                )
            ),
            inquiry=own(ModelInquiry(models.in_use)),
            stock=own(Stock(settings, user_data.holdings, conversations.damaged)),
            times=times,
            _open=opened.pop_all(),
        )
