"""The settings of conversations: limits, what needs what, unknown keys, defaults of the library and of the server."""

from pathlib import Path

import pytest

from mnemoir.chats.conversation_parts import folder_of_vectors, make_strategy, recording_options
from mnemoir.conversations.windows.strategies.hybrid import HybridStrategy
from mnemoir.conversations.windows.strategies.summarization import SummarizationStrategy
from mnemoir.conversations.windows.strategies.tail import SimpleStrategy
from mnemoir.core.errors import SettingsError
from mnemoir.providers.llm.offline import OfflineModel
from mnemoir.settings import load_settings
from mnemoir.settings.memory_config import MemoryConfig
from mnemoir.trees.served import folder_of_conversations


@pytest.fixture(autouse=True)
def in_an_empty_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def load(yaml=None, **overrides):
    if yaml is not None:
        Path("mnemoir.yaml").write_text(yaml, encoding="utf-8")
    given = {key.replace("__", "."): value for key, value in overrides.items()}
    return load_settings(None, given, {"HOME": "/nowhere"})


def complaint(key: str, value: object) -> str:
    with pytest.raises(SettingsError) as caught:
        load_settings(None, {key: value}, {"HOME": "/nowhere"})
    return caught.value.message


@pytest.mark.parametrize(
    ("key", "least", "most"),
    [
        ("memory.max_history_tokens", 512, 128_000),
        ("memory.auto_prune_days", 1, None),
        ("memory.rag.top_k", 1, 20),
        ("memory.rag.min_similarity", 0, 1),
        ("memory.rag.max_tokens", 1, None),
    ],
)
def test_numbers_have_the_documented_limits(key, least, most):
    for allowed in (least, most or 10**6):
        load_settings(None, {key: allowed}, {"HOME": "/nowhere"})
    assert key in complaint(key, least - 1)
    if most is not None:
        assert key in complaint(key, most + 1)


@pytest.mark.parametrize(
    ("key", "value", "named"),
    [
        ("memory.strategy", "simpel", "did you mean 'simple'?"),
        ("memory.history", "both", "'client' or 'server'"),
        ("memory.vector_store.backend", "faiss", "'builtin' or 'chromadb'"),
        ("memory.vector_store.embedding_provider", "cohere", "'server'"),
        ("memory.enabled", "perhaps", "true or false"),
        ("memory.auto_prune_days", 1.5, "whole number"),
    ],
)
def test_a_wrong_value_is_reported_with_the_allowed_ones(key, value, named):
    message = complaint(key, value)
    assert (key in message, named in message) == (True, True)


def test_recall_of_other_conversations_needs_vectors():
    yaml = "memory: {rag: {enabled: true}, vector_store: {enabled: false}}"
    with pytest.raises(SettingsError, match=r"needs vector_store\.enabled"):
        load(yaml)
    assert load("memory: {rag: {enabled: true}}").memory.rag.enabled


def test_unknown_keys_below_memory_give_warnings_only():
    yaml = "memory:\n  max_tokens: 5\n  vector_store: {collectionname: x}\n  rag: {topk: 3}\n"
    settings = load(yaml)
    assert len(settings.warnings) == 3
    told = "\n".join(settings.warnings)
    assert all(key in told for key in ("memory.max_tokens", "memory.vector_store.collectionname", "memory.rag.topk"))
    assert "Did you mean memory.rag.top_k?" in told


def test_the_defaults_of_the_library_are_the_documented_ones():
    config = MemoryConfig()
    vectors, rag = config.vector_store, config.rag
    assert (config.enabled, config.max_history_tokens, config.auto_prune_days) == (False, 4096, 30)
    assert (config.strategy, config.storage_path) == ("simple", Path.home() / ".mnemoir" / "memory.db")
    assert (vectors.enabled, vectors.backend, vectors.persist_directory) == (False, "chromadb", None)
    assert vectors.embedding_model == "sentence-transformers/all-MiniLM-L6-v2"
    assert (vectors.embedding_provider, vectors.collection_name) == ("sentence-transformers", "harombe_embeddings")
    assert (rag.enabled, rag.top_k, rag.min_similarity, rag.max_tokens) == (False, 5, 0.7, 1024)


def test_the_server_has_other_defaults_that_work_without_configuration():
    memory = load().memory
    vectors = memory.vector_store
    assert (memory.enabled, memory.max_history_tokens, memory.strategy) == (False, 4096, "simple")
    assert (memory.auto_prune_days, memory.storage_path, memory.history) == (None, None, "client")
    assert (vectors.enabled, vectors.backend, vectors.embedding_provider) == (True, "builtin", "server")
    assert (vectors.embedding_model, vectors.collection_name) == ("", "mnemoir_embeddings")
    assert memory.rag == MemoryConfig().rag


def test_conversations_are_in_the_data_directory_unless_another_folder_is_named():
    assert folder_of_conversations(load(storage__data_dir="data")) == Path.cwd() / "data" / "conversations"
    assert folder_of_conversations(load(memory__storage_path="talk")) == Path.cwd() / "talk"


def test_chromadb_has_a_folder_per_user_in_a_named_directory():
    own = Path("conversations/tea/mira")
    chroma = {"memory__vector_store__backend": "chromadb"}
    assert folder_of_vectors(load(memory__vector_store__persist_directory="vectors"), own) is None
    assert folder_of_vectors(load(**chroma), own) is None
    found = folder_of_vectors(load(**chroma, memory__vector_store__persist_directory="vectors"), own)
    assert found == Path("vectors/tea/mira")


def test_the_settings_decide_which_chats_are_stored_and_shown():
    usual = recording_options(load())
    assert (usual.always, usual.shows_stored, usual.retrieval) == (False, False, None)
    given = {"memory__enabled": True, "memory__history": "server", "memory__rag__enabled": True}
    chosen = recording_options(load(**given, memory__rag__top_k=7, memory__rag__min_similarity=0.5))
    assert (chosen.always, chosen.shows_stored) == (True, True)
    limits = chosen.retrieval
    assert limits is not None
    assert (limits.top_k, limits.min_similarity, limits.max_tokens) == (7, 0.5, 1024)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("simple", SimpleStrategy), ("summarization", SummarizationStrategy), ("hybrid", HybridStrategy)],
)
async def test_the_named_strategy_is_used(name, kind):
    model = OfflineModel()

    async def ask(model, request):
        return await model.ask(request)

    assert isinstance(make_strategy(load(memory__strategy=name), lambda: model, ask), kind)
    assert isinstance(make_strategy(load(), lambda: model, ask, name), kind)
