"""Conversations: threads, windows, token buffers, sessions, node memory, semantic search.

The public names of this room are listed in `__init__.pyi`, for type checkers and for the imports here: each is
imported at its first use, so that a script that keeps sessions does not load the dependencies of other parts.
"""

from importlib import import_module
from typing import Any

from mnemoir.core.first_use import homes_of
from mnemoir.ports.backends import backend

_BACKENDS = {
    "BuiltInEmbedding": "minilm",
    "ChromaDBVectorStore": "chromadb",
    "HttpEmbedding": "http-embeddings",
    "MemoryStorage": "sqlite-sessions",
    "OllamaEmbedding": "ollama-embeddings",
    "SentenceTransformerEmbedding": "sentence-transformers",
    "VectorFileStore": "vector-file",
}
_HOMES = homes_of(__file__)
__all__ = sorted(_HOMES.keys() | _BACKENDS.keys())


def __getattr__(name: str) -> Any:  # each name has a type of its own
    if name in _HOMES:
        found = getattr(import_module(_HOMES[name]), name)
    elif name in _BACKENDS:
        found = backend(_BACKENDS[name])
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
