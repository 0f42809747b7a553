"""Lookup of back-ends by name, so that library classes get one without a server and without importing rooms above.

    [project.entry-points."mnemoir.backends"]
    sqlite-sessions = "mnemoir.storage.conversations.sqlite_sessions:MemoryStorage"

Entry points of installed packages come first; the table here names Mnemoir's own, for a source tree not installed.
"""

from collections.abc import Callable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from mnemoir.core.errors import SettingsError

GROUP = "mnemoir.backends"
SHIPPED = {
    "chromadb": "mnemoir.storage.conversations.chroma_store:ChromaDBVectorStore",
    "file-lock": "mnemoir.storage.locks.file:FileLock",
    "http-embeddings": "mnemoir.providers.embedding_clients.remote:HttpEmbedding",
    "in-process-lock": "mnemoir.storage.locks.in_process:InProcessLock",
    "minilm": "mnemoir.providers.embedding_clients.local:BuiltInEmbedding",
    "objects": "mnemoir.storage.objects.opening:open_objects",
    "ollama-embeddings": "mnemoir.providers.embedding_clients.remote:OllamaEmbedding",
    "redis-lock": "mnemoir.storage.locks.redis:redis_lock",
    "sentence-transformers": "mnemoir.providers.embedding_clients.local:SentenceTransformerEmbedding",
    "session-search": "mnemoir.conversations.search.semantic:SemanticSearch",
    "sqlite-sessions": "mnemoir.storage.conversations.sqlite_sessions:MemoryStorage",
    "vector-file": "mnemoir.storage.conversations.vector_file:VectorFileStore",
}


@cache
def backend(name: str) -> Callable[..., Any]:  # each name has arguments of its own
    """The class or function that creates the back-end of that name.

    Raises SettingsError for an unknown name, and for an entry that cannot be imported or called.
    """
    entry = _entry(name)
    try:
        found = entry.load()
    except Exception as exc:  # the import of another package may raise anything
        raise _unusable(entry, f"it cannot be imported: {type(exc).__name__}: {exc}") from exc
    if not callable(found):
        raise _unusable(entry, "it is neither a class nor a function")
    made: Callable[..., Any] = found
    return made


def _entry(name: str) -> EntryPoint:
    """The entry of that name; of several, Mnemoir's own, else the one whose value sorts first."""
    listed = set(entry_points(group=GROUP, name=name))
    if name in SHIPPED:
        listed.add(EntryPoint(name, SHIPPED[name], GROUP))
    if not listed:
        known = ", ".join(sorted({entry.name for entry in entry_points(group=GROUP)} | set(SHIPPED)))
        raise SettingsError(f"No installed package lists a back-end {name!r} in {GROUP}. There are: {known}.")
    return min(listed, key=lambda entry: (not entry.value.startswith("mnemoir."), entry.value))


def _unusable(entry: EntryPoint, cause: str) -> SettingsError:
    return SettingsError(
        f"The back-end {entry.name} = {entry.value} in {GROUP} cannot be used: {cause}. "
        "Install what it needs, or repair the package that lists it."
    )
