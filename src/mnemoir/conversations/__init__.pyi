"""The public names of conversations and the modules they come from; `__init__.py` imports by this list.

Stores and embedding clients stand in rooms above and come by their entry points.
"""

from collections.abc import Callable

from mnemoir.conversations.log.files import FilePayload as FilePayload
from mnemoir.conversations.log.files import FileRef as FileRef
from mnemoir.conversations.log.files import FileResolver as FileResolver
from mnemoir.conversations.log.files import FileTransferMethod as FileTransferMethod
from mnemoir.conversations.log.files import FileType as FileType
from mnemoir.conversations.log.files import FileUnavailable as FileUnavailable
from mnemoir.conversations.log.files import FileUploadConfig as FileUploadConfig
from mnemoir.conversations.log.files import ImageConfig as ImageConfig
from mnemoir.conversations.log.files import StoredFile as StoredFile
from mnemoir.conversations.memory_config import MemoryConfig as MemoryConfig
from mnemoir.conversations.memory_config import MemoryMode as MemoryMode
from mnemoir.conversations.memory_config import fetch_memory as fetch_memory
from mnemoir.conversations.memory_config import fetch_node_memory as fetch_node_memory
from mnemoir.conversations.memory_config import validate_memory_config as validate_memory_config
from mnemoir.conversations.memory_manager import MemoryManager as MemoryManager
from mnemoir.conversations.nodes.cleanup import cleanup_node_memory as cleanup_node_memory
from mnemoir.conversations.nodes.cleanup import delete_node_memory as delete_node_memory
from mnemoir.conversations.nodes.document import NodeMemoryData as NodeMemoryData
from mnemoir.conversations.nodes.document import NodeMemoryFile as NodeMemoryFile
from mnemoir.conversations.nodes.document import NodeMemoryMessage as NodeMemoryMessage
from mnemoir.conversations.nodes.memory import NodeTokenBufferMemory as NodeTokenBufferMemory
from mnemoir.conversations.search.embedding import EmbeddingClient as EmbeddingClient
from mnemoir.conversations.search.embedding import ModelEmbeddingClient as ModelEmbeddingClient
from mnemoir.conversations.search.embedding import check_embedding_client as check_embedding_client
from mnemoir.conversations.search.search_filter import SearchFilter as SearchFilter
from mnemoir.conversations.search.session_search import Rerank as Rerank
from mnemoir.conversations.search.session_search import SearchHit as SearchHit
from mnemoir.conversations.search.vectors import DimensionMismatchError as DimensionMismatchError
from mnemoir.conversations.search.vectors import VectorStore as VectorStore
from mnemoir.conversations.turns.presets import HistoryRules as HistoryRules
from mnemoir.conversations.turns.presets import preset as preset
from mnemoir.conversations.turns.threads import extract_thread_messages as extract_thread_messages
from mnemoir.conversations.turns.threads import get_thread_messages_length as get_thread_messages_length
from mnemoir.conversations.turns.token_buffer import BaseMemory as BaseMemory
from mnemoir.conversations.turns.token_buffer import TokenBufferMemory as TokenBufferMemory
from mnemoir.conversations.turns.turns import Conversation as Conversation
from mnemoir.conversations.windows.budget import history_budget as history_budget
from mnemoir.conversations.windows.counters import TokenCounter as TokenCounter
from mnemoir.conversations.windows.counters import counter_named as counter_named
from mnemoir.conversations.windows.counters import estimate_tokens as estimate_tokens
from mnemoir.conversations.windows.counters import estimate_total_tokens as estimate_total_tokens
from mnemoir.conversations.windows.counters import model_counter as model_counter
from mnemoir.conversations.windows.counters import tiktoken_counter as tiktoken_counter
from mnemoir.conversations.windows.fitting import fit as fit
from mnemoir.conversations.windows.importance import ImportanceContext as ImportanceContext
from mnemoir.conversations.windows.importance import score_importance as score_importance
from mnemoir.conversations.windows.strategies.choice import strategy_named as strategy_named
from mnemoir.conversations.windows.strategies.hybrid import HybridStrategy as HybridStrategy
from mnemoir.conversations.windows.strategies.summarising import SummaryOptions as SummaryOptions
from mnemoir.conversations.windows.strategies.summarising import SummaryTask as SummaryTask
from mnemoir.conversations.windows.strategies.summarization import SummarizationStrategy as SummarizationStrategy
from mnemoir.conversations.windows.strategies.tail import SimpleStrategy as SimpleStrategy
from mnemoir.conversations.windows.strategies.tail import Strategy as Strategy
from mnemoir.conversations.windows.validity import InvalidHistory as InvalidHistory
from mnemoir.conversations.windows.validity import assert_valid_history as assert_valid_history
from mnemoir.conversations.windows.validity import close_open_calls as close_open_calls
from mnemoir.core.conversations import ROOT as ROOT
from mnemoir.core.conversations import MediaPart as MediaPart
from mnemoir.core.conversations import Message as Message
from mnemoir.core.conversations import MessageNotFoundError as MessageNotFoundError
from mnemoir.core.conversations import MessageRecord as MessageRecord
from mnemoir.core.conversations import Resumed as Resumed
from mnemoir.core.conversations import SessionExistsError as SessionExistsError
from mnemoir.core.conversations import SessionMetadata as SessionMetadata
from mnemoir.core.conversations import SessionRecord as SessionRecord
from mnemoir.core.conversations import StorageBusyError as StorageBusyError
from mnemoir.core.conversations import StoredMessage as StoredMessage
from mnemoir.core.conversations import Summary as Summary
from mnemoir.core.conversations import TextPart as TextPart
from mnemoir.core.conversations import ToolCall as ToolCall
from mnemoir.ports.log import SessionStorage as SessionStorage

BuiltInEmbedding: Callable[..., EmbeddingClient]
ChromaDBVectorStore: Callable[..., VectorStore]
HttpEmbedding: Callable[..., EmbeddingClient]
MemoryStorage: Callable[..., SessionStorage]
OllamaEmbedding: Callable[..., EmbeddingClient]
SentenceTransformerEmbedding: Callable[..., EmbeddingClient]
VectorFileStore: Callable[..., VectorStore]
