"""What a model is shown of a stored conversation: with a small budget, too, it begins with a question."""

import pytest
import pytest_asyncio

from mnemoir.chats.stored_turns import Place, ShownHistory, StoredQuestion, shown_history, store_question
from mnemoir.conversations.memory_manager import MemoryManager
from mnemoir.conversations.nodes.memory import local_node_parts
from mnemoir.conversations.users import OwnConversations
from mnemoir.conversations.windows.counters import CHARS4
from mnemoir.conversations.windows.validity import assert_valid_history
from mnemoir.core.conversations import Message, ToolCall
from tests.chats.chat_kit import Chats, opened_chats
from tests.narrowing import present
from tests.scripted_llm import ScriptedLLM
from tests.stages import staged

BUDGET = 100


@pytest.fixture
def own(tmp_path):
    with MemoryManager(tmp_path / "sessions.db", max_history_tokens=BUDGET) as manager:
        yield OwnConversations(folder=tmp_path, manager=manager, node_parts=local_node_parts(tmp_path))


@pytest_asyncio.fixture
async def chats(tmp_path, request):
    settings = {"memory.strategy": request.param, "memory.history": "server", "memory.max_history_tokens": 512}
    async with ScriptedLLM() as llm, opened_chats(tmp_path, llm, **settings) as opened:
        yield opened


def tool_rounds(count: int, *, first: int = 0) -> list[Message]:
    """Calls and their results, as an agent's loop has them."""
    return [
        message
        for number in range(first, first + count)
        for message in (
            Message("assistant", None, tool_calls=[ToolCall(f"c{number}", "look", {"at": "the pot"})]),
            Message("tool", f"result {number} " * 4, tool_call_id=f"c{number}", name="look"),
        )
    ]


def ask(own: OwnConversations, *said: Message, parent_id: int | None = None) -> StoredQuestion:
    place = Place(parent_id=parent_id, sends_new_only=True, shows_stored=True)
    return store_question(own, "tea", history=said, prompt="", place=place)


def shown(own: OwnConversations, *said: Message, parent_id: int | None = None) -> list[Message]:
    return [*present(ask(own, *said, parent_id=parent_id).shown).window]


@pytest.mark.parametrize("rounds", [1, 5, 40, 200])
def test_a_result_of_a_long_turn_is_shown_behind_its_question_and_the_newest_rounds_that_fit(own, rounds):
    loop = tool_rounds(rounds)
    own.manager.append_messages("tea", [Message("user", "Hello"), Message("assistant", "Hi"), Message("user", "Go")])
    own.manager.append_messages("tea", loop[:-1])
    window = shown(own, loop[-1])
    assert_valid_history(window, sent=True)
    assert window[-2:] == loop[-2:]
    assert window[0].text in ("Hello", "Go")
    assert CHARS4.count(window) <= BUDGET


def test_a_result_over_the_budget_comes_with_its_question_and_its_call_alone(own):
    own.manager.append_messages("tea", [Message("user", "Go"), *tool_rounds(3)[:-1]])
    window = shown(own, Message("tool", "hot " * 300, tool_call_id="c2", name="look"))
    assert_valid_history(window, sent=True)
    assert [one.role for one in window] == ["user", "assistant", "tool"]


def test_of_two_results_the_missing_one_is_told_of_and_none_is_without_its_call(own):
    calls = [ToolCall("c1", "look", {}), ToolCall("c2", "look", {})]
    own.manager.append_messages("tea", [Message("user", "x" * 500), Message("assistant", None, tool_calls=calls)])
    window = shown(own, Message("tool", "hot", tool_call_id="c1", name="look"))
    assert_valid_history(window, sent=True)
    assert [one.role for one in window] == ["user", "assistant", "tool", "tool"]


def test_a_begun_answer_that_is_to_be_gone_on_with_is_shown_behind_its_question(own):
    ids = own.manager.append_messages("tea", [Message("user", "x" * 500)])
    window = shown(own, Message("assistant", "It is"), parent_id=ids[0])
    assert [one.role for one in window] == ["user", "assistant"]


def test_on_a_branch_off_the_thread_too_a_window_begins_with_a_question(own):
    ids = own.manager.append_messages(
        "tea", [Message(role, f"{number} " * 50) for number in range(9) for role in ("user", "assistant")]
    )
    stored = ask(own, Message("user", "Where?"), parent_id=ids[-1])
    own.manager.append_messages("tea", [Message("user", "elsewhere")], parent_id=ids[0])
    window = shown_again(own, stored).window
    assert_valid_history(window, sent=True)
    assert [one.role for one in window] == ["user", "assistant", "user"]


def shown_again(own: OwnConversations, stored: StoredQuestion) -> ShownHistory:
    """As a strategy that waits for a summary shows it, when the thread has moved meanwhile."""
    return shown_history(own.log, own.manager, stored.turn, stored.new)


@pytest.mark.parametrize("chats", staged(["simple", "summarization", "hybrid"], quick=1), indirect=True)
async def test_what_is_sent_and_what_the_window_s_route_shows_begins_with_the_user(chats: Chats):
    for number in range(4):
        await chats.chat(f"Question {number}: {'please explain ' * 50}".strip())
        assert next(role for role, _ in chats.shown if role != "system") == "user"
    for limit in range(100, 900, 100):
        window = await chats.get(f"/api/conversations/tea/window?max_tokens={limit}&summarise=false")
        roles = [one["role"] for one in window["messages"] if one["role"] != "system"]
        assert roles[:1] in ([], ["user"])
        assert len(roles) == len(window["messages"]) or roles


async def test_a_greeting_is_shown_until_the_thread_is_cut(tmp_path):
    settings = {"memory.history": "server", "memory.max_history_tokens": 512}
    async with ScriptedLLM() as llm, opened_chats(tmp_path, llm, **settings) as chats:
        greeting = [{"role": "assistant", "content": "Welcome to the inn."}]
        await chats.ask("POST", "/api/conversations", {"id": "tea", "messages": greeting})
        await chats.chat("A room, please.")
        assert [role for role, _ in chats.shown] == ["assistant", "user"]
        for _ in range(4):
            await chats.chat("more " * 150)
        assert chats.shown[0][0] == "user"
