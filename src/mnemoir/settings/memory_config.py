"""The settings of conversations: storage, windows, search and recall.

`MemoryConfig` has the defaults of the library, where everything is off. The server's own section,
`settings.tree.Memory`, has other defaults, with which a server works without configuration.
"""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, field_validator

VectorBackend = Literal["builtin", "chromadb"]
VectorProvider = Literal["server", "sentence-transformers", "ollama", "openai"]
StrategyName = Literal["simple", "summarization", "hybrid"]
FilePath = Annotated[Path, AfterValidator(Path.expanduser)]


class Section(BaseModel):
    """One level of the settings tree."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, validate_default=False)


class VectorStoreConfig(Section):
    """Vectors of messages. Without a `persist_directory` ChromaDB holds them in memory; a start rebuilds them."""

    enabled: bool = False
    backend: VectorBackend = "chromadb"
    embedding_model: str = "sentence-transformers/all-MiniLM-L6-v2"
    embedding_provider: VectorProvider = "sentence-transformers"
    persist_directory: FilePath | None = None
    collection_name: str = "harombe_embeddings"

    @field_validator("embedding_model")
    @classmethod
    def _names_a_model(cls, name: str) -> str:
        """Check that the name is not blank, because vectors are stored under it."""
        if not name.strip():
            raise ValueError("must name a model: vectors are stored under that name")
        return name


class RAGConfig(Section):
    """Recall of past conversations into prompts."""

    enabled: bool = False
    top_k: int = Field(default=5, ge=1, le=20)
    min_similarity: float = Field(default=0.7, ge=0, le=1)
    max_tokens: int = Field(default=1024, ge=1)


class MemoryConfig(Section):
    """Sessions, their windows and their vectors. `enabled` also stores conversations without a session id."""

    enabled: bool = False
    storage_path: FilePath | None = Path("~/.mnemoir/memory.db").expanduser()
    max_history_tokens: int = Field(default=4096, ge=512, le=128_000)
    auto_prune_days: int | None = Field(default=30, ge=1)
    strategy: StrategyName = "simple"
    vector_store: VectorStoreConfig = VectorStoreConfig()
    rag: RAGConfig = RAGConfig()

    @field_validator("rag")
    @classmethod
    def _needs_vectors(cls, rag: RAGConfig, info: ValidationInfo) -> RAGConfig:
        """Check that recall has vectors. `vector_store` is validated first and is missing here when it is wrong."""
        vectors = info.data.get("vector_store")
        if rag.enabled and vectors is not None and not vectors.enabled:
            raise ValueError("needs vector_store.enabled: without vectors nothing can be recalled")
        return rag
