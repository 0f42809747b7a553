"""Workflows with all that their nodes work with: the config tree, its endpoints, files, modules, locks."""

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiohttp

from mnemoir.app.conversation_parts import folder_of_conversations
from mnemoir.app.discussions import Discussions
from mnemoir.app.models import timeouts_of
from mnemoir.app.tree import Served
from mnemoir.conversations.users import UserConversations
from mnemoir.core.scope import Scope
from mnemoir.memory.discussions.parts import DiscussionMemory
from mnemoir.ports.embedding import EmbeddingModel
from mnemoir.ports.llm import ChatModel
from mnemoir.ports.modules import ModuleRunner
from mnemoir.ports.run_store import RunStore
from mnemoir.providers.llm.back_ends import HttpBackEnds
from mnemoir.providers.offline_wikipedia import HttpOfflineWikipedia
from mnemoir.providers.python_modules.runner import InProcessModuleRunner, NoModules, ProcessModuleRunner
from mnemoir.search.indexing import Indexing
from mnemoir.settings import Settings
from mnemoir.settings.addresses import is_loopback
from mnemoir.storage.discussions.chunk_ledger import FileChunkLedger
from mnemoir.storage.discussions.files import FileDiscussionFiles
from mnemoir.storage.discussions.record_store import SqliteRecordStore
from mnemoir.storage.discussions.rolling_summaries import FileRollingSummaries
from mnemoir.storage.discussions.timestamps import FileTimestamps
from mnemoir.storage.files.user_files import FileUserFiles
from mnemoir.storage.sqlite.run_store import NoRuns, SqliteRunStore
from mnemoir.storage.sqlite.workflow_locks import SqliteWorkflowLocks
from mnemoir.wire.forwarding import Forwarding
from mnemoir.workflows.compiled import Compiler
from mnemoir.workflows.default import default_workflow
from mnemoir.workflows.discussion_files import DiscussionPlaces
from mnemoir.workflows.dispatch import Workflows
from mnemoir.workflows.engine import Engine
from mnemoir.workflows.node_types import node_types
from mnemoir.workflows.rebuilding import Rebuilding
from mnemoir.workflows.services import ChatMemory, Limits, Services

RUNS_FILE = "runs.db"
DEFAULT_USER = "user"
_MODULE_FOLDERS = ("modules", "workflow_python_scripts")  # where trees keep their modules

Own = Callable[[Any], Any]  # keeps a part to be closed at the end, and gives it back


def open_runs(settings: Settings) -> RunStore:
    """Where runs are recorded, or what records none."""
    chosen = settings.runs
    if not chosen.enabled:
        return NoRuns()
    path = settings.storage.data_dir / RUNS_FILE
    return SqliteRunStore(path, most_runs=chosen.most, keep_days=chosen.keep_days)


def open_back_ends(settings: Settings, session: aiohttp.ClientSession) -> HttpBackEnds:
    """The endpoints of a config tree; none is asked yet."""
    return HttpBackEnds(
        session,
        timeouts=timeouts_of(settings.workflows.timeouts),
        tries=settings.llm.tries,
        most_bytes=settings.llm.most_bytes,
        calls_at_once=settings.workflows.endpoint_calls_at_once,
    )


def make_workflows(
    settings: Settings,
    served: Served | None,
    model: ChatModel,
    memory: ChatMemory,
    discussions: DiscussionMemory,
    conversations: UserConversations,
    runs: RunStore,
    back_ends: HttpBackEnds,
    session: aiohttp.ClientSession,
    own: Own,
) -> tuple[Workflows, Discussions]:
    """All parts of the workflows; those that hold anything are given to `own`, in the order they are opened."""
    chosen, data_dir = settings.workflows, settings.storage.data_dir
    tree, users = (served.tree, served.users) if served is not None else (None, ())
    places = DiscussionPlaces(discussions.files, data_dir, several_users=len(users) > 1)
    services = Services(
        own_model=model,
        memory=memory,
        conversations=conversations,
        discussions=discussions,
        discussion_places=places,
        back_ends=back_ends,
        modules=own(_modules(settings, served)),
        files=user_files(settings, served),
        wikipedia=HttpOfflineWikipedia(session),
        locks=own(SqliteWorkflowLocks(uuid.uuid4().hex)),
        timestamps=FileTimestamps(),
        data_dir=data_dir,
        limits=Limits(
            node_timeout_s=chosen.node_timeout_s,
            module_timeout_s=chosen.module_timeout_s,
            most_depth=chosen.most_depth,
            most_nodes=chosen.most_nodes,
        ),
        forwarding=forwarding_of(settings),
    )
    engine = Engine(Compiler(node_types(), services), services)
    workflows = own(Workflows(engine, runs, default_workflow(), tree, users))
    scope = Scope(project=settings.memory.default_project, user=DEFAULT_USER)
    return workflows, Discussions(discussions, places, Rebuilding(engine, services, runs), served, scope)


def forwarding_of(settings: Settings) -> Forwarding:
    """What of a client's request models get: by default all of it where only this machine can ask and no key is set.

    A server that others reach sends on what is known to be harmless.
    """
    server = settings.server
    private = is_loopback(server.host) and not server.api_keys and server.admin_api_key is None
    return Forwarding(
        forward=settings.llm.forward or ("all" if private else "listed"), think_as=settings.llm.think_as
    )


def open_discussions(embedding: EmbeddingModel, indexing: Indexing, own: Own) -> DiscussionMemory:
    """The stores of discussions; none of them opens anything yet."""
    return DiscussionMemory(
        ledger=FileChunkLedger(),
        summaries=FileRollingSummaries(),
        records=own(SqliteRecordStore()),
        files=FileDiscussionFiles(),
        indexing=indexing,
        embedding=embedding,
    )


def _modules(settings: Settings, served: Served | None) -> ModuleRunner:
    chosen = settings.workflows
    if served is None or chosen.python_modules == "off":
        return NoModules()
    public = served.tree.public
    runner = ProcessModuleRunner if chosen.python_modules == "process" else InProcessModuleRunner
    return runner([public, *chosen.module_directories], public)


def user_files(settings: Settings, served: Served | None) -> FileUserFiles:
    """The public folder of a tree, without what no text of a model may change: configuration, modules, our data."""
    chosen = settings.workflows
    if served is None:
        return FileUserFiles(chosen.file_directories, settings.storage.data_dir)
    public = served.tree.public
    roots = [public, *chosen.file_directories]
    vectors = settings.memory.vector_store.persist_directory
    stores = [settings.storage.data_dir, settings.storage.workspace_root, folder_of_conversations(settings)]
    stores += [vectors] if vectors is not None else []
    closed: list[Path] = [
        served.tree.root,
        *chosen.module_directories,
        *(public / name for name in _MODULE_FOLDERS),
        *(store for store in stores if any(root.resolve() in store.resolve().parents for root in roots)),
    ]
    return FileUserFiles(roots, public, closed=closed)
