"""What session memory does when something is wrong (3.11 of the reference): each time, it really is."""

import threading
import urllib.request
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from mnemoir.conversations import (
    MemoryManager,
    Message,
    SessionMetadata,
    SimpleStrategy,
    StorageBusyError,
    SummarizationStrategy,
    SummaryOptions,
    ToolCall,
)
from mnemoir.core.errors import ProviderUnavailable, StorageUnavailable
from mnemoir.providers.embedding_clients.remote import HttpEmbedding
from mnemoir.storage.conversations.vector_file import VectorFileStore
from tests.conversations.file_holder import held_by_another_process
from tests.conversations.search_kit import manager
from tests.conversations.session_kit import behind_the_back, without_waits
from tests.narrowing import present
from tests.scripted_llm import ScriptedLLM, closed_port_url

BYTES = 20  # of a file, flipped one after the other


def user(text: str) -> Message:
    return Message("user", text)


def said(memory: MemoryManager, session_id: str = "s") -> list[str]:
    return [message.text for message in memory.load_session(session_id)]


@pytest.fixture
def memory(tmp_path):
    with MemoryManager(tmp_path / "memory.db") as opened:
        yield opened


# --- a session that is not there


def test_saving_to_an_unknown_session_creates_it_and_loading_one_does_not(memory):
    assert memory.load_history("s") == memory.load_session("s") == memory.get_recent_messages("s") == []
    assert not memory.session_exists("s")
    memory.save_message("s", user("hi"), system_prompt="be kind")
    assert (memory.get_session("s").system_prompt, said(memory)) == ("be kind", ["hi"])


# --- a file that another process holds


def test_a_save_waits_for_the_other_process_to_let_go(memory, tmp_path):
    memory.save_message("s", user("before"))
    with held_by_another_process(tmp_path / "memory.db") as let_go:
        saving = threading.Thread(target=memory.save_message, args=("s", user("after")))
        saving.start()
        assert said(memory) == ["before"]  # reading waits for nobody
        assert saving.is_alive()
        let_go()
        saving.join()
    assert said(memory) == ["before", "after"]


def test_a_file_that_stays_held_is_an_error_after_five_tries_and_nothing_is_written(memory, tmp_path, monkeypatch):
    without_waits(monkeypatch)
    with held_by_another_process(tmp_path / "memory.db"), MemoryManager(tmp_path / "memory.db") as impatient:
        with pytest.raises(StorageBusyError, match=r"memory\.db is busy: others held it through 5 tries"):
            impatient.save_message("s", user("lost"))
        assert said(impatient) == []
    memory.save_message("s", user("next"))
    assert said(memory) == ["next"]


# --- more than fits


def test_more_than_fits_leaves_the_newest_and_is_never_an_error(memory):
    memory.save_messages("s", [user("x" * 400), user("y" * 40)])
    assert [message.text for message in memory.load_history("s", 10)] == ["y" * 40]
    assert memory.load_history("s", 9) == []
    assert memory.load_history("s", 0) == []
    assert memory.load_history("s", -5) == []


def test_with_the_model_of_the_summaries_down_the_newest_messages_are_sent(tmp_path):
    address = closed_port_url()

    def ask(task) -> str:
        with urllib.request.urlopen(address) as answer:
            return str(answer.read(), "utf-8")

    strategy = SummarizationStrategy(SummaryOptions(summarise=ask), fallback=SimpleStrategy())
    with MemoryManager(tmp_path / "memory.db", 1000, strategy=strategy) as memory, capture_logs() as logs:
        memory.save_messages("s", [user(f"{number} {'x' * 400}") for number in range(40)])
        window = memory.load_history("s")
    assert [message.text.split()[0] for message in window] == [str(number) for number in range(30, 40)]
    assert [line["event"] for line in logs] == ["summary_failed"]


# --- damaged rows


CALLS = Message("assistant", "looking", tool_calls=[ToolCall("c", "look", {"at": 1})])


@pytest.mark.parametrize(
    ("damage", "left"),
    [
        ('UPDATE messages SET tool_calls = \'[{"id": "c"\' WHERE id = 2', ["one", "looking", "three"]),
        ("UPDATE messages SET role = 'narrator' WHERE id = 2", ["one", "three"]),
    ],
)
def test_a_damaged_row_costs_its_field_or_itself_and_the_rest_is_loaded(memory, tmp_path, damage, left):
    memory.save_messages("s", [user("one"), CALLS, user("three")])
    with behind_the_back(tmp_path / "memory.db") as file:
        file.execute(damage)
    with capture_logs() as logs:
        assert [message.text for message in memory.load_history("s")] == left
        assert said(memory) == left
    assert {(line["log_level"], line["message_id"]) for line in logs} == {("warning", 2)}


def test_damaged_metadata_are_empty_and_no_listing_fails_over_them(memory, tmp_path):
    memory.create_session("be kind", SessionMetadata(title="Boats"), "bad")
    memory.create_session("", SessionMetadata(title="Trains"), "good")
    with behind_the_back(tmp_path / "memory.db") as file:
        file.execute("UPDATE sessions SET metadata = '{\"title\": ' WHERE id = 'bad'")
    assert {one.id: one.metadata.title for one in memory.list_sessions()} == {"bad": None, "good": "Trains"}
    assert memory.get_session("bad").system_prompt == "be kind"


# --- a damaged file


def copies(path: Path) -> list[Path]:
    return sorted(path.parent.glob("memory.db.corrupt-*Z"))


@pytest.fixture(scope="module")
def replacing(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("whole") / "memory.db"
    with MemoryManager(path) as memory:
        memory.save_messages("s", [user(f"message {number} " * 20) for number in range(60)])
    return path.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("twentieth", range(BYTES))
def test_a_flipped_byte_never_empties_a_memory_without_a_word(tmp_path, replacing, twentieth):
    path = tmp_path / "memory.db"
    flipped = bytearray(replacing)
    flipped[(len(flipped) - 1) * twentieth // (BYTES - 1)] ^= 0xFF
    path.write_bytes(flipped)
    refused, left = "", []
    with capture_logs() as logs:
        try:
            with MemoryManager(path) as memory:
                left = said(memory)
                memory.save_message("s", user("next"))
                assert said(memory)[-1] == "next"
        except StorageUnavailable as exc:
            refused = exc.message
    if refused:
        assert "memory.db" in refused
        assert path.read_bytes() == flipped
        return
    if copies(path):
        assert [line["event"] for line in logs if line["log_level"] == "error"] == ["session file damaged"]
        assert copies(path)[0].read_bytes()[:4096] == flipped[:4096]
    else:
        assert len(left) == 60


def test_a_file_that_is_no_database_is_kept_and_the_run_goes_on_with_a_new_one(tmp_path):
    path = tmp_path / "memory.db"
    path.write_bytes(was := b"not a database" * 200)
    with MemoryManager(path) as memory:
        memory.save_message("s", user("hi"))
        assert said(memory) == ["hi"]
    assert [copy.read_bytes() for copy in copies(path)] == [was]


def test_damage_is_an_error_instead_where_that_is_asked_for(tmp_path):
    path = tmp_path / "memory.db"
    path.write_bytes(was := b"not a database" * 200)
    with pytest.raises(StorageUnavailable, match="damaged"):
        MemoryManager(path, on_corruption="raise")
    assert (path.read_bytes(), copies(path)) == (was, [])


def test_a_file_of_a_newer_version_is_refused_and_left_as_it_is(tmp_path):
    path = tmp_path / "memory.db"
    MemoryManager(path).close()
    with behind_the_back(path) as file:
        file.execute("PRAGMA user_version = 99")
    was = path.read_bytes()
    with pytest.raises(StorageUnavailable, match="newer"):
        MemoryManager(path)
    assert (path.read_bytes(), copies(path)) == (was, [])


# --- embeddings out of reach


def test_with_the_embedding_server_down_messages_are_saved_and_backfilled_when_it_is_up(tmp_path):
    down = HttpEmbedding("words", closed_port_url() + "/v1", tries=1)
    with manager(tmp_path, down) as memory:
        memory.save_messages("s", [user("the boat is red"), user("the train is late")])
        assert said(memory) == ["the boat is red", "the train is late"]
        assert memory.storage.vector_counts() == {"failed": 2}
        assert memory.backfill_embeddings() == 0
    with ScriptedLLM.in_thread() as server, manager(tmp_path, HttpEmbedding("words", server.openai_url)) as memory:
        assert memory.backfill_embeddings() == 2
        assert memory.storage.vector_counts() == {"embedded": 2}


async def test_with_the_embedding_server_down_words_are_still_found_and_meaning_is_an_error(tmp_path):
    down = HttpEmbedding("words", closed_port_url() + "/v1", tries=1)
    with manager(tmp_path, down) as memory:
        memory.save_message("s", user("the boat is red"))
        assert [hit.message.text for hit in await memory.search_hybrid("boat")] == ["the boat is red"]
        with pytest.raises(ProviderUnavailable):
            await memory.search_similar("boat")


def test_a_vector_file_that_cannot_be_written_costs_no_message(tmp_path):
    with ScriptedLLM.in_thread() as server:
        store = VectorFileStore("messages", tmp_path)
        with manager(tmp_path, HttpEmbedding("words", server.openai_url), store) as memory:
            with behind_the_back(present(store.path)) as file:
                file.execute("DROP TABLE vectors")
            memory.save_message("s", user("kept all the same"))
            assert said(memory) == ["kept all the same"]
            assert memory.storage.vector_counts() != {"embedded": 1}
