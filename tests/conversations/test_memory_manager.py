"""The memory manager: documented names, windows over stored messages, and search only when enabled."""

import inspect
import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemoir.conversations import MemoryManager, Message, SearchFilter, SessionExistsError, SessionMetadata, ToolCall
from mnemoir.conversations.windows.counters import CHARS4, HEURISTIC
from mnemoir.conversations.windows.fitting import fit
from mnemoir.conversations.windows.strategies.tail import SimpleStrategy
from mnemoir.conversations.windows.validity import assert_valid_history, close_open_calls
from mnemoir.core.errors import InvalidRequest
from mnemoir.storage.conversations.sqlite_sessions import MemoryStorage
from tests.conversations.histories import any_messages
from tests.conversations.session_kit import assistant, behind_the_back, user
from tests.narrowing import instance, present

CALL = ToolCall("c1", "look", {"at": "map"})
ROUND = [assistant("", CALL), Message("tool", "x" * 40, tool_call_id="c1", name="look")]

DOCUMENTED = {
    "__init__": "self, storage_path, max_history_tokens=4096, embedding_client=None, vector_store=None",
    "create_session": "self, system_prompt, metadata=None, session_id=None",
    "get_session": "self, session_id",
    "session_exists": "self, session_id",
    "get_or_create_session": "self, session_id, system_prompt, metadata=None",
    "save_message": "self, session_id, message",
    "load_history": "self, session_id, max_tokens=None",
    "load_session": "self, session_id",
    "get_recent_messages": "self, session_id, count=10",
    "list_sessions": "self, limit=10, offset=0",
    "delete_session": "self, session_id",
    "clear_history": "self, session_id",
    "get_message_count": "self, session_id",
    "prune_old_sessions": "self, days=30",
    "search_similar": "self, query, top_k=5, session_id=None, min_similarity=None",
    "get_relevant_context": "self, query, max_tokens=2048, session_id=None",
    "backfill_embeddings": "self, session_id=None, batch_size=100",
    "wait_for_pending_embeddings": "self",
}


@pytest.fixture
def manager(tmp_path):
    with MemoryManager(tmp_path / "memory.db") as opened:
        yield opened


def said(messages) -> list[str]:
    return [message.text for message in messages]


@pytest.mark.parametrize("name", DOCUMENTED)
def test_methods_are_called_as_documented(name):
    parameters = inspect.signature(getattr(MemoryManager, name)).parameters.values()
    positional = [each for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
    plain = [each.name if each.default is each.empty else f"{each.name}={each.default!r}" for each in positional]
    assert ", ".join(plain) == DOCUMENTED[name]


def test_undocumented_parameters_are_keyword_only_with_a_default():
    for name in DOCUMENTED:
        parameters = inspect.signature(getattr(MemoryManager, name)).parameters.values()
        own = [each for each in parameters if each.kind is not each.POSITIONAL_OR_KEYWORD]
        assert all(each.kind is each.KEYWORD_ONLY and each.default is not each.empty for each in own)


def test_a_manager_shows_its_configuration(tmp_path):
    with MemoryManager(tmp_path / "m.db", 512) as manager:
        assert (manager.max_history_tokens, instance(MemoryStorage, manager.storage).db_path) == (
            512,
            tmp_path / "m.db",
        )
        assert (manager.embedding_client, manager.vector_store) == (None, None)
        assert not manager.semantic_search_enabled


def test_a_session_gets_a_uuid_unless_it_has_an_id(manager):
    made = manager.create_session("be kind")
    assert str(uuid.UUID(made)) == made
    assert manager.create_session("", {"title": "Trip", "project": "p"}, "mine") == "mine"
    assert manager.get_session("mine").metadata == SessionMetadata(title="Trip", custom={"project": "p"})
    assert (manager.session_exists("mine"), manager.session_exists("yours")) == (True, False)
    with pytest.raises(SessionExistsError):
        manager.create_session("", session_id="mine")


def test_a_session_is_created_only_where_there_is_none(manager):
    assert manager.get_or_create_session("s", "first") == ("s", True)
    assert manager.get_or_create_session("s", "second") == ("s", False)
    assert manager.get_session("s").system_prompt == "first"
    made, is_new = manager.get_or_create_session(None, "third")
    assert (manager.session_exists(made), is_new) == (True, True)


def test_the_title_of_a_session_can_be_changed(manager):
    manager.create_session("", {"user": "mira"}, "s")
    assert manager.update_metadata("s", {"user": "mira", "title": "Trip"})
    assert manager.list_sessions()[0].metadata.title == "Trip"


def test_messages_survive_a_restart(tmp_path):
    with MemoryManager(tmp_path / "m.db") as manager:
        ids = manager.save_messages("s", [user("hi"), assistant("hello")], system_prompt="be kind")
    with MemoryManager(str(tmp_path / "m.db")) as manager:
        assert manager.save_message("s", user("again")) > max(ids)
        assert said(manager.load_history("s")) == ["hi", "hello", "again"]
        assert present(manager.get_session("s")).system_prompt == "be kind"


def test_the_system_prompt_is_no_message(manager):
    manager.create_session("be kind", session_id="s")
    manager.save_message("s", user("hi"))
    assert [message.role for message in manager.load_session("s")] == ["user"]


@pytest.mark.parametrize("session_id", ["", "a\0b", None])
def test_without_a_session_id_nothing_is_saved(manager, session_id):
    with pytest.raises(InvalidRequest):
        manager.save_message(session_id, user("hi"))
    assert manager.list_sessions() == []


@pytest.mark.parametrize(
    ("max_tokens", "kept"),
    [(None, "abcd"), (40, "abcd"), (39, "bcd"), (10, "d"), (9, ""), (0, ""), (-5, "")],
)
def test_a_window_is_the_newest_that_fit(manager, max_tokens, kept):
    manager.save_messages("s", [user(letter * 40) for letter in "abcd"])
    assert "".join(text[0] for text in said(manager.load_history("s", max_tokens))) == kept
    assert manager.load_history("unknown", max_tokens) == []
    assert not manager.session_exists("unknown")


def test_a_window_never_parts_a_call_from_its_result(manager):
    manager.save_messages("s", [user("q" * 40), *ROUND, assistant("a" * 40)])
    manager.save_messages("s", [user("n" * 40), *ROUND])
    by_budget = {budget: len(manager.load_history("s", budget)) for budget in (70, 50, 24, 23, 10)}
    assert by_budget == {70: 7, 50: 3, 24: 3, 23: 3, 10: 0}


def test_a_call_that_was_never_answered_is_answered_in_the_window_only(manager):
    manager.save_messages("s", [user("go"), assistant("", CALL)])
    assert said(manager.load_history("s")) == ["go", "", "[INTERRUPTED]"]
    assert said(manager.load_session("s")) == ["go", ""]
    assert manager.get_message_count("s") == 2


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(messages=any_messages(), budget=st.integers(1, 30))
def test_a_window_is_what_the_rule_says_of_the_whole_session(tmp_path_factory, messages, budget):
    with MemoryManager(tmp_path_factory.mktemp("windows") / "m.db") as manager:
        manager.save_messages("s", messages)
        window = manager.load_history("s", budget)
        closed = close_open_calls(messages)
        is_whole = CHARS4.count(closed) <= budget
        assert window == (closed if is_whole else fit(closed, budget, CHARS4, unit="exchange"))
        assert CHARS4.count(window) <= budget
        assert_valid_history(window, begins="any" if is_whole else "user")


def test_a_long_session_is_read_from_its_end(manager):
    manager.save_messages("s", [user(f"message {number:05} " * 4) for number in range(3000)])
    window = manager.load_history("s", 4096)
    assert len(window) == 4096 // len("message 00000 ")
    assert window == manager.load_session("s")[-len(window) :]


def test_another_strategy_makes_the_windows(tmp_path):
    with MemoryManager(tmp_path / "m.db", strategy=SimpleStrategy(counter=HEURISTIC)) as manager:
        manager.save_messages("s", [user("q" * 40), assistant("a" * 40)])
        assert manager.load_history("s", 20) == []


@pytest.mark.parametrize(
    ("count", "max_tokens", "found"),
    [(10, None, "abcd"), (2, None, "cd"), (0, None, ""), (-1, None, ""), (3, 20, "cd"), (1, 100, "d"), (4, 5, "")],
)
def test_recent_messages_are_counted_first_and_then_fitted(manager, count, max_tokens, found):
    manager.save_messages("s", [user(letter * 40) for letter in "abcd"])
    recent = manager.get_recent_messages("s", count, max_tokens=max_tokens)
    assert "".join(text[0] for text in said(recent)) == found


def test_recent_messages_are_counted_without_damaged_ones(manager):
    manager.save_messages("s", [user(letter) for letter in "abcd"])
    with behind_the_back(manager.storage.db_path) as file:
        file.execute("UPDATE messages SET role = '?' WHERE content = 'c'")
    assert said(manager.get_recent_messages("s", 2)) == ["b", "d"]


def test_a_cleared_context_keeps_every_row(manager):
    manager.save_messages("s", [user("old"), assistant("older")])
    mark = manager.clear_context("s")
    assert manager.load_history("s") == manager.get_recent_messages("s") == []
    manager.save_message("s", user("new"))
    assert said(manager.load_history("s")) == ["new"]
    assert said(manager.load_session("s")) == ["old", "older", "new"]
    assert manager.get_session("s").context_after == mark
    assert manager.clear_context("unknown") is None


def test_a_pinned_message_can_be_unpinned(manager):
    message_id = manager.save_message("s", user("my name is Mira"))
    assert manager.pin_message(message_id)
    assert [stored.id for stored in manager.storage.important_messages("s", 1.0)] == [message_id]
    assert manager.unpin_message(message_id)
    assert manager.storage.important_messages("s", 1.0) == []
    assert not manager.pin_message(999)


def test_clearing_keeps_the_session_and_deleting_does_not(manager):
    manager.save_messages("s", [user("one"), user("two")])
    assert manager.clear_history("s") == 2
    assert manager.session_exists("s")
    assert manager.delete_session("s")
    assert not manager.delete_session("s")


def test_pruning_has_a_dry_run(manager):
    manager.save_message("s", user("hi"))
    assert manager.prune_old_sessions(0, dry_run=True) == ["s"]
    assert manager.prune_old_sessions() == 0
    assert manager.prune_old_sessions(0) == 1
    with pytest.raises(ValueError, match="days must be 0 or more"):
        manager.prune_old_sessions(-1)


def test_a_listed_session_answers_like_a_mapping(manager):
    manager.create_session("be kind", session_id="s")
    [listed] = manager.list_sessions()
    assert (listed["id"], dict(listed)["system_prompt"]) == ("s", "be kind")


async def test_semantic_search_that_is_not_enabled_is_an_error(manager):
    manager.save_message("s", user("hi"))
    for ask in (manager.search("q"), manager.search_similar("q"), manager.get_relevant_context("q")):
        with pytest.raises(RuntimeError, match=r"^Semantic search not enabled"):
            await ask
    with pytest.raises(RuntimeError, match=r"^Semantic search not enabled"):
        manager.backfill_embeddings()
    with pytest.raises(RuntimeError, match=r"^Semantic search not enabled"):
        await manager.abackfill_embeddings()
    await manager.wait_for_pending_embeddings()
    assert await manager.search_hybrid("q", 0, SearchFilter()) == []
    assert manager.storage.vector_counts() == {}
