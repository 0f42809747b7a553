"""Conversations: threads, windows, token buffers, sessions, node memory, semantic search.

The public names of this room, each imported when it is first asked for: a script that keeps sessions does not wait
for what others need. Stores and embedding clients stand in rooms above and come by their entry points.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mnemoir.ports.backends import backend

if TYPE_CHECKING:
    from collections.abc import Callable

    from mnemoir.conversations.log.files import (
        FilePayload,
        FileRef,
        FileResolver,
        FileTransferMethod,
        FileType,
        FileUnavailable,
        FileUploadConfig,
        ImageConfig,
        StoredFile,
    )
    from mnemoir.conversations.memory_config import (
        MemoryConfig,
        MemoryMode,
        fetch_memory,
        fetch_node_memory,
        validate_memory_config,
    )
    from mnemoir.conversations.memory_manager import MemoryManager
    from mnemoir.conversations.nodes.cleanup import cleanup_node_memory, delete_node_memory
    from mnemoir.conversations.nodes.document import NodeMemoryData, NodeMemoryFile, NodeMemoryMessage
    from mnemoir.conversations.nodes.memory import NodeTokenBufferMemory
    from mnemoir.conversations.search.embedding import EmbeddingClient, ModelEmbeddingClient, check_embedding_client
    from mnemoir.conversations.search.search_filter import SearchFilter
    from mnemoir.conversations.search.session_search import Rerank, SearchHit
    from mnemoir.conversations.search.vectors import DimensionMismatchError, VectorStore
    from mnemoir.conversations.turns.presets import HistoryRules, preset
    from mnemoir.conversations.turns.threads import extract_thread_messages, get_thread_messages_length
    from mnemoir.conversations.turns.token_buffer import BaseMemory, TokenBufferMemory
    from mnemoir.conversations.turns.turns import Conversation
    from mnemoir.conversations.windows.budget import history_budget
    from mnemoir.conversations.windows.counters import (
        TokenCounter,
        counter_named,
        estimate_tokens,
        estimate_total_tokens,
        model_counter,
        tiktoken_counter,
    )
    from mnemoir.conversations.windows.fitting import fit
    from mnemoir.conversations.windows.importance import ImportanceContext, score_importance
    from mnemoir.conversations.windows.strategies.choice import strategy_named
    from mnemoir.conversations.windows.strategies.hybrid import HybridStrategy
    from mnemoir.conversations.windows.strategies.simple import SimpleStrategy
    from mnemoir.conversations.windows.strategies.strategy import Strategy
    from mnemoir.conversations.windows.strategies.summarising import SummaryOptions, SummaryTask
    from mnemoir.conversations.windows.strategies.summarization import SummarizationStrategy
    from mnemoir.conversations.windows.validity import InvalidHistory, assert_valid_history, close_open_calls
    from mnemoir.core.conversation_messages import MediaPart, Message, TextPart, ToolCall
    from mnemoir.core.conversations import (
        ROOT,
        MessageNotFoundError,
        MessageRecord,
        Resumed,
        SessionExistsError,
        SessionMetadata,
        SessionRecord,
        StorageBusyError,
        StoredMessage,
        Summary,
    )
    from mnemoir.ports.log import SessionStorage

    BuiltInEmbedding: Callable[..., EmbeddingClient]
    ChromaDBVectorStore: Callable[..., VectorStore]
    HttpEmbedding: Callable[..., EmbeddingClient]
    MemoryStorage: Callable[..., SessionStorage]
    OllamaEmbedding: Callable[..., EmbeddingClient]
    SentenceTransformerEmbedding: Callable[..., EmbeddingClient]
    VectorFileStore: Callable[..., VectorStore]

__all__ = [
    "ROOT",
    "BaseMemory",
    "BuiltInEmbedding",
    "ChromaDBVectorStore",
    "Conversation",
    "DimensionMismatchError",
    "EmbeddingClient",
    "FilePayload",
    "FileRef",
    "FileResolver",
    "FileTransferMethod",
    "FileType",
    "FileUnavailable",
    "FileUploadConfig",
    "HistoryRules",
    "HttpEmbedding",
    "HybridStrategy",
    "ImageConfig",
    "ImportanceContext",
    "InvalidHistory",
    "MediaPart",
    "MemoryConfig",
    "MemoryManager",
    "MemoryMode",
    "MemoryStorage",
    "Message",
    "MessageNotFoundError",
    "MessageRecord",
    "ModelEmbeddingClient",
    "NodeMemoryData",
    "NodeMemoryFile",
    "NodeMemoryMessage",
    "NodeTokenBufferMemory",
    "OllamaEmbedding",
    "Rerank",
    "Resumed",
    "SearchFilter",
    "SearchHit",
    "SentenceTransformerEmbedding",
    "SessionExistsError",
    "SessionMetadata",
    "SessionRecord",
    "SessionStorage",
    "SimpleStrategy",
    "StorageBusyError",
    "StoredFile",
    "StoredMessage",
    "Strategy",
    "SummarizationStrategy",
    "Summary",
    "SummaryOptions",
    "SummaryTask",
    "TextPart",
    "TokenBufferMemory",
    "TokenCounter",
    "ToolCall",
    "VectorFileStore",
    "VectorStore",
    "assert_valid_history",
    "check_embedding_client",
    "cleanup_node_memory",
    "close_open_calls",
    "counter_named",
    "delete_node_memory",
    "estimate_tokens",
    "estimate_total_tokens",
    "extract_thread_messages",
    "fetch_memory",
    "fetch_node_memory",
    "fit",
    "get_thread_messages_length",
    "history_budget",
    "model_counter",
    "preset",
    "score_importance",
    "strategy_named",
    "tiktoken_counter",
    "validate_memory_config",
]

_MODULES = {
    "conversations.windows.budget": ("history_budget",),
    "conversations.windows.counters": (
        "TokenCounter",
        "counter_named",
        "estimate_tokens",
        "estimate_total_tokens",
        "model_counter",
        "tiktoken_counter",
    ),
    "conversations.search.embedding": (
        "EmbeddingClient",
        "ModelEmbeddingClient",
        "check_embedding_client",
    ),
    "conversations.log.files": (
        "FilePayload",
        "FileRef",
        "FileResolver",
        "FileTransferMethod",
        "FileType",
        "FileUnavailable",
        "FileUploadConfig",
        "ImageConfig",
        "StoredFile",
    ),
    "conversations.windows.fitting": ("fit",),
    "conversations.windows.importance": (
        "ImportanceContext",
        "score_importance",
    ),
    "conversations.memory_config": (
        "MemoryConfig",
        "MemoryMode",
        "fetch_memory",
        "fetch_node_memory",
        "validate_memory_config",
    ),
    "conversations.memory_manager": ("MemoryManager",),
    "core.conversation_messages": (
        "MediaPart",
        "Message",
        "TextPart",
        "ToolCall",
    ),
    "conversations.nodes.cleanup": (
        "cleanup_node_memory",
        "delete_node_memory",
    ),
    "conversations.nodes.document": (
        "NodeMemoryData",
        "NodeMemoryFile",
        "NodeMemoryMessage",
    ),
    "conversations.nodes.memory": ("NodeTokenBufferMemory",),
    "conversations.turns.presets": (
        "HistoryRules",
        "preset",
    ),
    "conversations.search.search_filter": ("SearchFilter",),
    "conversations.search.session_search": (
        "Rerank",
        "SearchHit",
    ),
    "ports.log": ("SessionStorage",),
    "core.conversations": (
        "ROOT",
        "MessageNotFoundError",
        "MessageRecord",
        "Resumed",
        "SessionExistsError",
        "SessionMetadata",
        "SessionRecord",
        "StorageBusyError",
        "StoredMessage",
        "Summary",
    ),
    "conversations.windows.strategies.choice": ("strategy_named",),
    "conversations.windows.strategies.hybrid": ("HybridStrategy",),
    "conversations.windows.strategies.simple": ("SimpleStrategy",),
    "conversations.windows.strategies.strategy": ("Strategy",),
    "conversations.windows.strategies.summarising": (
        "SummaryOptions",
        "SummaryTask",
    ),
    "conversations.windows.strategies.summarization": ("SummarizationStrategy",),
    "conversations.turns.threads": (
        "extract_thread_messages",
        "get_thread_messages_length",
    ),
    "conversations.turns.token_buffer": (
        "BaseMemory",
        "TokenBufferMemory",
    ),
    "conversations.turns.turns": ("Conversation",),
    "conversations.windows.validity": (
        "InvalidHistory",
        "assert_valid_history",
        "close_open_calls",
    ),
    "conversations.search.vectors": (
        "DimensionMismatchError",
        "VectorStore",
    ),
}
_BACKENDS = {
    "BuiltInEmbedding": "minilm",
    "ChromaDBVectorStore": "chromadb",
    "HttpEmbedding": "http-embeddings",
    "MemoryStorage": "sqlite-sessions",
    "OllamaEmbedding": "ollama-embeddings",
    "SentenceTransformerEmbedding": "sentence-transformers",
    "VectorFileStore": "vector-file",
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:  # each name has a type of its own
    if name in _HOMES:
        found = getattr(import_module(f"mnemoir.{_HOMES[name]}"), name)
    elif name in _BACKENDS:
        found = backend(_BACKENDS[name])
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
