"""Session memory has the names, parameters and defaults of the reference (3.2 to 3.14), without a server."""

import dataclasses
import inspect
import json
from datetime import datetime
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

import mnemoir.conversations as conversations
from mnemoir.agent import CompletionResponse
from mnemoir.conversations import (
    EmbeddingClient,
    MemoryManager,
    Message,
    MessageRecord,
    SearchHit,
    SessionMetadata,
    SessionRecord,
    ToolCall,
    VectorStore,
)
from mnemoir.settings.memory_config import MemoryConfig, RAGConfig, VectorStoreConfig
from tests.conversations.documented import given_as, modules_after
from tests.narrowing import present

SIGNATURES = {
    "MemoryStorage": "db_path",
    "MemoryStorage.create_session": "session_id, system_prompt, metadata=None",
    "MemoryStorage.get_session": "session_id",
    "MemoryStorage.update_session_activity": "session_id",
    "MemoryStorage.save_message": "message",
    "MemoryStorage.load_messages": "session_id, limit=None, offset=0",
    "MemoryStorage.get_message_count": "session_id",
    "MemoryStorage.list_sessions": "limit=10, offset=0",
    "MemoryStorage.delete_session": "session_id",
    "MemoryStorage.clear_messages": "session_id",
    "MemoryStorage.prune_old_sessions": "days",
    "MemoryManager": "storage_path, max_history_tokens=4096, embedding_client=None, vector_store=None",
    "MemoryManager.create_session": "system_prompt, metadata=None, session_id=None",
    "MemoryManager.get_session": "session_id",
    "MemoryManager.session_exists": "session_id",
    "MemoryManager.get_or_create_session": "session_id, system_prompt, metadata=None",
    "MemoryManager.save_message": "session_id, message",
    "MemoryManager.load_history": "session_id, max_tokens=None",
    "MemoryManager.load_session": "session_id",
    "MemoryManager.get_recent_messages": "session_id, count=10, *, max_tokens=None",
    "MemoryManager.list_sessions": "limit=10, offset=0",
    "MemoryManager.delete_session": "session_id",
    "MemoryManager.clear_history": "session_id",
    "MemoryManager.get_message_count": "session_id",
    "MemoryManager.prune_old_sessions": "days=30, *, dry_run=False",
    "MemoryManager.pin_message": "message_id",
    "MemoryManager.search": "query, top_k=5, *, filters=None, min_similarity=None",
    "MemoryManager.search_similar": "query, top_k=5, session_id=None, min_similarity=None",
    "MemoryManager.search_hybrid": "query, top_k=5, filters=None, alpha=None",
    "MemoryManager.get_relevant_context": "query, max_tokens=2048, session_id=None",
    "MemoryManager.backfill_embeddings": "session_id=None, batch_size=100",
    "MemoryManager.abackfill_embeddings": "session_id=None, batch_size=100",
    "MemoryManager.wait_for_pending_embeddings": "",
    "VectorStore.add": "ids, embeddings, documents, metadata",
    "VectorStore.search": "query_embedding, top_k=10, where=None",
    "VectorStore.delete": "ids",
    "VectorStore.get": "ids=None, where=None, limit=None",
    "VectorStore.count": "",
    "VectorStore.clear": "",
    "VectorStore.update": "ids, embeddings=None, documents=None, metadata=None",
    "ChromaDBVectorStore": "collection_name='harombe_embeddings', persist_directory=None",
    "EmbeddingClient.embed": "texts",
    "EmbeddingClient.embed_single": "text",
    "estimate_tokens": "message",
    "estimate_total_tokens": "messages",
    "score_importance": "message, context=None",
}
COROUTINES = {
    "MemoryManager.search",
    "MemoryManager.search_similar",
    "MemoryManager.search_hybrid",
    "MemoryManager.get_relevant_context",
    "MemoryManager.abackfill_embeddings",
    "MemoryManager.wait_for_pending_embeddings",
    "EmbeddingClient.embed",
    "EmbeddingClient.embed_single",
}
MEMBERS = {
    SessionMetadata: ["user", "tags", "title", "custom"],
    SessionRecord: ["id", "created_at", "updated_at", "system_prompt", "metadata"],
    MessageRecord: ["id", "session_id", "role", "content", "tool_calls", "tool_call_id", "name", "created_at"],
    Message: ["role", "content", "tool_calls", "tool_call_id", "name"],
    ToolCall: ["id", "name", "arguments"],
    CompletionResponse: ["content", "tool_calls", "finish_reason"],
    SearchHit: ["message", "message_id", "session_id", "similarity", "created_at"],
}


def named(name: str) -> Any:  # a class, a function or a method
    found = conversations
    for step in name.split("."):
        found = getattr(found, step)
    return found


@pytest.mark.parametrize("name", SIGNATURES)
def test_it_is_called_as_documented(name):
    assert given_as(SIGNATURES[name], named(name)) == SIGNATURES[name]
    assert inspect.iscoroutinefunction(named(name)) == (name in COROUTINES)


@pytest.mark.parametrize("kind", MEMBERS, ids=lambda kind: kind.__name__)
def test_a_value_has_the_documented_members(kind):
    assert {member.name for member in dataclasses.fields(kind)} >= set(MEMBERS[kind])


def test_values_are_made_with_as_little_as_documented():
    assert SessionMetadata() == SessionMetadata(user=None, tags=[], title=None, custom={})
    assert json.loads(SessionMetadata().to_json()) == {"user": None, "tags": [], "title": None, "custom": {}}
    assert Message("user", "hi") == Message("user", "hi", None, None, None)
    assert MessageRecord(session_id="s", role="user").content is None
    assert CompletionResponse("hi") == CompletionResponse(content="hi", tool_calls=None, finish_reason="stop")


def test_an_embedding_client_says_its_dimension_and_needs_no_name():
    members = {name for name, member in vars(EmbeddingClient).items() if isinstance(member, property)}
    assert members == {"dimension"}


@pytest.mark.parametrize("name", ["VectorFileStore", "ChromaDBVectorStore"])
def test_every_vector_store_has_the_documented_methods(name):
    for documented in (one for one in SIGNATURES if one.startswith("VectorStore.")):
        method = documented.removeprefix("VectorStore.")
        assert given_as(SIGNATURES[documented], getattr(named(name), method)) == SIGNATURES[documented]
        assert callable(getattr(VectorStore, method))


def test_a_manager_shows_its_configuration(tmp_path):
    with MemoryManager(tmp_path / "m.db", 512) as manager:
        assert isinstance(manager.storage, named("MemoryStorage"))
        assert (manager.max_history_tokens, manager.embedding_client, manager.vector_store) == (512, None, None)
        assert manager.semantic_search_enabled is False


def test_what_both_texts_promise_of_one_name_holds(tmp_path):
    with MemoryManager(tmp_path / "m.db") as manager:
        session_id = manager.create_session("be kind", {"title": "Boats", "agent": "helper"})
        assert present(manager.get_session(session_id)).metadata.custom == {"agent": "helper"}
        assert [manager.save_message(session_id, Message("user", text)) for text in ("one", "two")] == [1, 2]
        [listed] = manager.list_sessions()
        assert (listed["id"], dict(listed)["system_prompt"]) == (session_id, "be kind")
        assert set(MEMBERS[SessionRecord]) <= set(listed.keys())
        assert (listed.get("id"), listed.get("owner"), "id" in listed, "owner" in listed) == (
            session_id,
            None,
            True,
            False,
        )
        assert (listed["metadata"]["title"], listed["metadata"].get("agent"), listed["metadata"].get("user")) == (
            "Boats",
            "helper",
            None,
        )
        assert set(dict(listed["metadata"])) == {"user", "tags", "title", "custom"}
        assert [name for name, _ in listed.items()] == list(listed)
        assert isinstance(listed.created_at, datetime)
        assert [message.content for message in manager.load_session(session_id)] == ["one", "two"]
        assert [message.content for message in manager.get_recent_messages(session_id, 1)] == ["two"]
        assert manager.get_recent_messages(session_id, 0) == []
        assert (manager.delete_session(session_id), manager.delete_session(session_id)) == (True, False)


@pytest.mark.parametrize("call", ["search_similar", "get_relevant_context"])
async def test_searching_by_meaning_without_embeddings_says_that_it_is_not_enabled(tmp_path, call):
    with (
        MemoryManager(tmp_path / "m.db") as memory,
        pytest.raises(RuntimeError, match=r"^Semantic search not enabled"),
    ):
        await getattr(memory, call)("boats")


SETTINGS: list[tuple[type[BaseModel], str, Any, list[Any], list[Any]]] = [
    # section, key, default, values that are allowed, values that are not
    (MemoryConfig, "enabled", False, [True, False], ["perhaps"]),
    (MemoryConfig, "max_history_tokens", 4096, [512, 128_000], [511, 128_001, "many"]),
    (MemoryConfig, "auto_prune_days", 30, [1, None], [0, -1]),
    (MemoryConfig, "strategy", "simple", ["simple", "summarization", "hybrid"], ["none"]),
    (VectorStoreConfig, "enabled", False, [True], ["perhaps"]),
    (VectorStoreConfig, "backend", "chromadb", ["chromadb", "builtin"], ["faiss"]),
    (VectorStoreConfig, "embedding_model", "sentence-transformers/all-MiniLM-L6-v2", ["other"], [5, "", "  "]),
    (
        VectorStoreConfig,
        "embedding_provider",
        "sentence-transformers",
        ["sentence-transformers", "ollama"],
        ["a cloud"],
    ),
    (VectorStoreConfig, "persist_directory", None, [None, "vectors"], [5]),
    (VectorStoreConfig, "collection_name", "harombe_embeddings", ["mine"], [5]),
    (RAGConfig, "enabled", False, [True], ["perhaps"]),
    (RAGConfig, "top_k", 5, [1, 20], [0, 21]),
    (RAGConfig, "min_similarity", 0.7, [0, 1], [-0.1, 1.1]),
    (RAGConfig, "max_tokens", 1024, [1], [0]),
]


@pytest.mark.parametrize(("section", "key", "default", "allowed", "refused"), SETTINGS)
def test_a_setting_has_the_documented_default_and_bounds(section, key, default, allowed, refused):
    assert getattr(section(), key) == default
    for value in allowed:
        section(**{key: value})
    for value in refused:
        with pytest.raises(ValidationError, match=key):
            section(**{key: value})


def test_a_place_of_a_setting_may_begin_at_home(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert MemoryConfig.model_validate({"storage_path": "~/talk.db"}).storage_path == tmp_path / "talk.db"


def test_recalling_needs_vectors():
    with pytest.raises(ValidationError, match=r"needs vector_store\.enabled"):
        MemoryConfig(rag=RAGConfig(enabled=True))
    both = MemoryConfig(rag=RAGConfig(enabled=True), vector_store=VectorStoreConfig(enabled=True))
    assert both.rag.enabled


def test_it_takes_no_server():
    names = sorted({name.split(".")[0] for name in SIGNATURES})
    rooms = {name.split(".")[1] for name in modules_after(f"from mnemoir.conversations import {', '.join(names)}")}
    assert rooms <= {"conversations", "core", "ports", "search", "storage"}
