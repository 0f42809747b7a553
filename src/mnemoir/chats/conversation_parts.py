"""Builds the parts of conversations from the settings: window strategy, vector store, embedding client."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any

from mnemoir.agent.retrieval import RetrievalLimits
from mnemoir.chats.conversation_folders import owner_of, refuse_link
from mnemoir.chats.conversations import Conversations
from mnemoir.chats.expected_folders import ExpectedFolders
from mnemoir.chats.message_vectors import WaitingFolders
from mnemoir.chats.recording import RecordingOptions
from mnemoir.conversations.log.message_rows import to_model
from mnemoir.conversations.memory_manager import MemoryManager
from mnemoir.conversations.search.embedding import EmbeddingClient, ModelEmbeddingClient
from mnemoir.conversations.search.session_search import SearchHost
from mnemoir.conversations.search.vectors import VectorStore
from mnemoir.conversations.windows.strategies.choice import strategy_named
from mnemoir.conversations.windows.strategies.summarising import SummaryOptions, SummaryTask, summary_prompt
from mnemoir.conversations.windows.strategies.tail import Strategy, StrategyName
from mnemoir.core.data_directory import SESSIONS_FILE
from mnemoir.core.events import Reply
from mnemoir.core.messages import ModelRequest, Sampling
from mnemoir.core.scope import Scope
from mnemoir.models.model_parts import Models
from mnemoir.ports.backends import backend
from mnemoir.ports.embedding import EmbeddingModel
from mnemoir.ports.llm import ChatModel
from mnemoir.privacy.secrets import without_secret
from mnemoir.search.questions import Multilingual
from mnemoir.settings import Settings
from mnemoir.storage.databases import DirectoryIdentity, embedded
from mnemoir.storage.disk_files import file_errors, prepare_folder
from mnemoir.storage.pack_files import PackFiles
from mnemoir.storage.process_lock import ProcessLock
from mnemoir.storage.sealing.cells import Cells, OwnCells
from mnemoir.storage.sql.catalogue import Catalogue
from mnemoir.storage.sql.conversation_marks import ConversationMarks
from mnemoir.storage.sql.engine import Engine
from mnemoir.storage.sql.holds import Holds
from mnemoir.trees.served import folder_of_conversations

PACKS_FOLDER = "cache"
_SUMMARY_S = 30.0
_MOST_SUMMARY = 512  # tokens; at most a quarter of a small window, or the summary would fill it
_OPENAI_MODEL = "text-embedding-3-small"
Ask = Callable[[ChatModel, ModelRequest], Coroutine[Any, Any, Reply]]


def open_conversations(
    settings: Settings,
    models: Models,
    multilingual: Multilingual | None,
    database: Engine,
    waiting: WaitingFolders,
    ask: Ask,
    identity: DirectoryIdentity,
    cells: Cells | None = None,
) -> Conversations:
    """Build the conversations of all users; `database` holds their catalogue, no user's files are opened yet.

    Each file must be of the directory of that `identity`.

    `cells` encrypt them. Folders with messages that lack a vector are noted in `waiting`; `multilingual` is for those
    that are not English. Raises SettingsError for a vector store or an embedding client not installed, and
    StorageUnavailable when another server uses the folder that the settings name.
    """
    chosen = settings.memory
    client = embedding_client(settings, models.embedding) if chosen.vector_store.enabled else None
    strategy = make_strategy(settings, models.in_use.now, ask)
    expected = ExpectedFolders(ConversationMarks(database), identity)
    loop = asyncio.get_running_loop()

    def manager(folder: Path) -> MemoryManager:
        own = None if cells is None else OwnCells(cells, owner_of(folder))
        refuse_link(folder)
        membership = expected.membership(folder)
        embedded.refuse_loss_of(folder / SESSIONS_FILE, membership)  # before anything is made beside it
        return MemoryManager(
            folder / SESSIONS_FILE,
            chosen.max_history_tokens,
            client,
            None if client is None else vector_store(settings, folder, own),
            strategy=strategy,
            embed_sync=False,
            synced=True,
            cells=own,
            membership=membership,
            host=SearchHost(
                loop=loop,
                request=partial(waiting.note, folder),
                packs=PackFiles(folder / PACKS_FOLDER, cells, owner_of(folder)),
                multilingual=multilingual,
                user=Scope(project="", user=str(folder)),
            ),
        )

    return Conversations(
        folder_of_conversations(settings),
        manager,
        Catalogue(database),
        lambda folder: folder_of_vectors(settings, folder),
        lock=None if chosen.conversations_folder is None else _lock_folder(chosen.conversations_folder),
        model=models.embedding.name if chosen.vector_store.embedding_provider == "server" else None,
        holds=Holds(database),
        cells=cells,
        expected=expected,
    )


def _lock_folder(folder: Path) -> ProcessLock:
    """Lock a separate conversation folder for this server, as the data directory is locked."""
    with file_errors(folder):
        prepare_folder(folder)
        return ProcessLock(folder)


def recording_options(settings: Settings) -> RecordingOptions:
    """The settings for which chats are stored and what models see of them."""
    chosen, rag = settings.memory, settings.memory.rag
    limits = RetrievalLimits(top_k=rag.top_k, min_similarity=rag.min_similarity, max_tokens=rag.max_tokens)
    return RecordingOptions(
        named=chosen.keep_sessions,
        always=chosen.enabled,
        shows_stored=chosen.history == "server",
        retrieval=limits if rag.enabled else None,
    )


def make_strategy(
    settings: Settings, model: Callable[[], ChatModel], ask: Ask, name: StrategyName | None = None
) -> Strategy:
    """The strategy called `name`, by default that of the settings.

    `model` writes summaries, by `ask` in the running loop.
    """
    options = SummaryOptions(
        summarise=_summariser(model, ask),
        model=lambda: model().name,
        timeout_s=_SUMMARY_S,
        clean=without_secret,
        max_summary_tokens=min(_MOST_SUMMARY, settings.memory.max_history_tokens // 4),
    )
    return strategy_named(name or settings.memory.strategy, options)


def embedding_client(settings: Settings, embedding: EmbeddingModel) -> EmbeddingClient:
    """The client that embeds messages. Raises SettingsError and ProviderNotConfigured for what is not installed."""
    chosen, proxies = settings.memory.vector_store, settings.http.proxies
    made: EmbeddingClient
    if chosen.embedding_provider == "server":
        made = ModelEmbeddingClient(embedding)
    elif chosen.embedding_provider == "sentence-transformers":
        made = backend("sentence-transformers")(*_arguments_of(chosen.embedding_model))
    elif chosen.embedding_provider == "ollama":
        made = backend("ollama-embeddings")(
            *_arguments_of(chosen.embedding_model), host=settings.llm.ollama_url, proxies=proxies
        )
    else:
        model = chosen.embedding_model or _OPENAI_MODEL
        made = backend("http-embeddings")(model, settings.llm.base_url, api_key_env="OPENAI_API_KEY", proxies=proxies)
    return made


def vector_store(settings: Settings, folder: Path, own: OwnCells | None = None) -> VectorStore:
    """The vector store of one user: beside the messages, unless the settings name another folder for ChromaDB.

    `own` encrypts the built-in one.
    """
    chosen = settings.memory.vector_store
    made: VectorStore
    if chosen.backend == "builtin":
        made = backend("vector-file")(chosen.collection_name, folder, on_corruption="set_aside", cells=own)
    else:
        made = backend("chromadb")(chosen.collection_name, folder_of_vectors(settings, folder))
    return made


def folder_of_vectors(settings: Settings, folder: Path) -> Path | None:
    """The separate folder with the vectors of a user; None when they are in the user's own `folder`."""
    chosen = settings.memory.vector_store
    base = chosen.persist_directory if chosen.enabled and chosen.backend != "builtin" else None
    return None if base is None else base / folder.parent.name / folder.name


def _arguments_of(name: str) -> tuple[str, ...]:
    """The setting as the one argument of a backend; no argument when it is empty."""
    return (name,) if name else ()


def _summariser(model: Callable[[], ChatModel], ask: Ask) -> Callable[[SummaryTask], str]:
    """A blocking summary function for other threads; the model is called in the loop that is running now."""
    loop = asyncio.get_running_loop()

    def summarise(task: SummaryTask) -> str:
        request = ModelRequest(
            messages=to_model(summary_prompt(task)),
            sampling=Sampling(max_tokens=task.max_tokens),
            added=("max_tokens",),
        )
        asked = asyncio.run_coroutine_threadsafe(ask(model(), request), loop)
        try:
            return asked.result(_SUMMARY_S).text
        finally:
            asked.cancel()  # an answer is not needed any more

    return summarise
