"""Builds workflows with everything their nodes use: config tree, endpoints, files, modules, locks."""

import uuid
from functools import cache, partial
from typing import TYPE_CHECKING

import aiohttp

from mnemoir.access.spent import Metered, Spent
from mnemoir.chats.discussions import Discussions
from mnemoir.chats.opening import Talks
from mnemoir.core.owning import Own
from mnemoir.memory.discussions.parts import DiscussionMemory
from mnemoir.models.model_parts import Models, forwarding_of
from mnemoir.ports.embedding import EmbeddingModel
from mnemoir.ports.node_services import ModuleRunner
from mnemoir.ports.run_store import RunWatcher
from mnemoir.providers.offline_wikipedia import HttpOfflineWikipedia
from mnemoir.providers.python_modules.runner import InProcessModuleRunner, NoModules, ProcessModuleRunner
from mnemoir.search.indexing import Indexing
from mnemoir.settings import Settings
from mnemoir.storage.databases import embedded
from mnemoir.storage.discussions.chunk_ledger import FileChunkLedger
from mnemoir.storage.discussions.files import FileDiscussionFiles
from mnemoir.storage.discussions.record_store import SqliteRecordStore
from mnemoir.storage.discussions.rolling_summaries import FileRollingSummaries
from mnemoir.storage.discussions.timestamps import FileTimestamps
from mnemoir.storage.locks.rows import RowLeases
from mnemoir.trees.served import Served, discussion_places, user_files
from mnemoir.workflows.compiled import Compiler
from mnemoir.workflows.config.tree import UserTree
from mnemoir.workflows.config.workflow import default_workflow
from mnemoir.workflows.dispatch import Workflows
from mnemoir.workflows.engine import Engine
from mnemoir.workflows.lock_files import LockFiles
from mnemoir.workflows.locks import WorkflowLocks
from mnemoir.workflows.node import node_types
from mnemoir.workflows.services import Limits, Services
from mnemoir.workflows.trials import Trials

if TYPE_CHECKING:
    from mnemoir.workflows.rebuilding import Rebuilding


def make_workflows(
    settings: Settings,
    served: Served | None,
    models: Models,
    talks: Talks,
    runs: RunWatcher,
    spent: Spent,
    session: aiohttp.ClientSession,
    own: Own,
) -> tuple[Workflows, Discussions, Trials | None]:
    """Build all parts of the workflows; those to be closed are passed to `own` in the order of opening."""
    discussions = _open_discussions(models.embedding, own)
    tree, users = (served.tree, served.users) if served is not None else (None, ())
    places = discussion_places(settings, served, discussions.files)
    services = Services(
        own_model=models.in_use.now,
        memory=talks.memory,
        conversations=talks.conversations,
        discussions=discussions,
        discussion_places=places,
        model_servers=models.servers,
        modules=own(_modules(settings, served)),
        files=user_files(settings, tree),
        wikipedia=HttpOfflineWikipedia(session),
        locks=own(WorkflowLocks(partial(RowLeases, uuid.uuid4().hex, embedded.open_locks))),
        timestamps=FileTimestamps(),
        data_dir=settings.storage.data_dir,
        lock_directory=settings.workflows.lock_directory,
        limits=_limits(settings),
        forwarding=forwarding_of(settings),
    )

    def watched(watcher: RunWatcher) -> RunWatcher:
        return Metered(watcher, spent)

    engine = Engine(Compiler(node_types(), services), services)
    workflows = own(Workflows(engine, watched(runs), default_workflow(), tree, users))
    trials = None if served is None else Trials(services, served.tree, served.users, workflows, watched)

    @cache
    def rebuilder() -> "Rebuilding":
        from mnemoir.workflows.rebuilding import Rebuilding  # with all that makes memories of discussions

        return Rebuilding(engine, services, watched(runs))

    kept = Discussions(discussions, places, rebuilder, served, _lock_files(services, served))
    return workflows, kept, trials


def _lock_files(services: Services, served: Served | None) -> LockFiles:
    def users() -> list[UserTree | None]:
        return [None] if served is None else [served.tree.user(name) for name in served.users]

    return LockFiles(services.locks, users, services.data_dir, services.lock_directory)


def _limits(settings: Settings) -> Limits:
    chosen = settings.workflows
    return Limits(
        node_timeout_s=chosen.node_timeout_s,
        module_timeout_s=chosen.module_timeout_s,
        most_depth=chosen.most_depth,
        most_nodes=chosen.most_nodes,
    )


def _open_discussions(embedding: EmbeddingModel, own: Own) -> DiscussionMemory:
    """Build the stores of discussions; no file is opened yet."""
    return DiscussionMemory(
        ledger=FileChunkLedger(),
        summaries=FileRollingSummaries(),
        records=own(SqliteRecordStore()),
        files=FileDiscussionFiles(),
        indexing=Indexing(embedding),
        embedding=embedding,
    )


def _modules(settings: Settings, served: Served | None) -> ModuleRunner:
    chosen = settings.workflows
    if served is None or chosen.python_modules == "off":
        return NoModules()
    public = served.tree.public
    runner = ProcessModuleRunner if chosen.python_modules == "process" else InProcessModuleRunner
    return runner([public, *chosen.module_directories], public)
