"""Messages of one conversation that come while answers are under way: all on the thread, each with its answer."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
import pytest_asyncio

from mnemoir.chats.recording import Recorded
from mnemoir.chats.stored_turns import INCOMPLETE, Place, StoredQuestion, store_answer, store_question
from mnemoir.conversations.memory_manager import MemoryManager
from mnemoir.conversations.nodes.memory import local_node_parts
from mnemoir.conversations.users import OwnConversations
from mnemoir.conversations.windows.validity import SUMMARY_PREFIX
from mnemoir.core.conversations import ROOT, Message, Summary
from mnemoir.core.errors import MnemoirError
from mnemoir.core.events import Event, Gathering, Text
from mnemoir.core.messages import ChatRequest, ModelRequest, text_message
from mnemoir.core.scope import Scope
from mnemoir.workflows.run import Caller
from tests.chats.chat_kit import Chats, opened_chats, texts_of
from tests.narrowing import present
from tests.scripted_llm import Answer, Asked, ScriptedLLM, failure
from tests.stages import staged
from tests.storage.sealing_kit import a_key

THREADS = 50
AT_ONCE = 5  # threads in a case
SERVER = Place(parent_id=None, sends_new_only=True, shows_stored=True)


@pytest.fixture
def own(tmp_path) -> Iterator[OwnConversations]:
    with opened(tmp_path) as manager:
        yield own_of(manager)


def opened(folder) -> MemoryManager:
    return MemoryManager(folder / "sessions.db")


def own_of(manager: MemoryManager) -> OwnConversations:
    folder = manager.storage.db_path.parent  # type: ignore[attr-defined]  # of the file that is opened here
    return OwnConversations(folder=folder, manager=manager, node_parts=local_node_parts(folder))


def ask(own: OwnConversations, *said: str, place: Place = SERVER) -> StoredQuestion:
    history = [Message("assistant" if at % 2 else "user", text) for at, text in enumerate(said)]
    return store_question(own, "tea", history=history, prompt="", place=place)


def answer(own: OwnConversations, asked: StoredQuestion, text: str, finish: str = "stop") -> list[int]:
    gathering = Gathering()
    gathering.take([Text(text=text)] if text else [])
    return [*present(store_answer(own, asked.turn, gathering.so_far(), "run_1", finish))]


def behind(message_id: int) -> Place:
    return Place(parent_id=message_id, sends_new_only=True, shows_stored=True)


def thread(own: OwnConversations) -> list[str]:
    """By time and id, which is the order of the rows, and by parents: both are the same."""
    by_rows = own.log.thread_messages("tea", 999)[::-1]
    by_parents = own.log.way_to("tea", by_rows[-1].id, 999)[::-1] if by_rows else []
    assert by_rows == by_parents
    assert [one.message for one in by_rows] == own.manager.load_session("tea")
    return [one.message.text for one in by_rows]


def shown(asked: StoredQuestion) -> list[str]:
    return [one.text for one in present(asked.shown).window]


# --- one late answer


def test_a_late_answer_goes_between_its_question_and_what_came_meanwhile(own):
    first, second = ask(own, "one?"), ask(own, "two?")
    assert shown(second) == ["one?", "two?"]
    answer(own, second, "two.")
    answer(own, first, "one.")
    assert thread(own) == ["one?", "one.", "two?", "two."]
    assert shown(ask(own, "three?")) == ["one?", "one.", "two?", "two.", "three?"]


def test_the_answer_before_the_newest_question_is_answered_leaves_that_question_the_head(own):
    first, second = ask(own, "one?"), ask(own, "two?")
    answer(own, first, "one.")
    assert thread(own) == ["one?", "one.", "two?"]
    answer(own, second, "two.")
    assert thread(own) == ["one?", "one.", "two?", "two."]


def test_the_late_answer_belongs_to_the_turn_of_its_question_and_is_found_again_in_a_history(own):
    first, second = ask(own, "one?"), ask(own, "two?")
    answer(own, second, "two.")
    answer(own, first, "one.")
    rows = own.log.thread_messages("tea", 9)[::-1]
    assert [one.turn_id == rows[0].turn_id for one in rows] == [True, True, False, False]
    client = Place(parent_id=None, sends_new_only=False)
    third = ask(own, "one?", "one.", "two?", "two.", "three?", place=client)
    assert (len(third.added), third.turn.conversation_id) == (1, "tea")
    assert own.manager.find_session([one.message for one in rows]) == "tea"


def test_an_answer_that_said_nothing_is_not_put_in_between(own):
    first, second = ask(own, "one?"), ask(own, "two?")
    assert answer(own, first, "") == []
    answer(own, second, "two.")
    assert thread(own) == ["one?", "two?", "two."]


def test_an_answer_that_broke_off_is_put_in_between_as_incomplete(own):
    first, second = ask(own, "one?"), ask(own, "two?")
    answer(own, second, "two.")
    (late, *_) = answer(own, first, "one", INCOMPLETE)
    assert thread(own) == ["one?", "one", "two?", "two."]
    assert present(own.manager.get_message("tea", late)).finish_reason == INCOMPLETE


def test_a_parent_that_the_client_names_makes_a_branch(own):
    first = ask(own, "one?")
    second = ask(own, "two?", place=behind(first.turn.message_id))
    answer(own, first, "one.")
    answer(own, second, "two.")
    assert thread(own) == ["one?", "two?", "two."]
    children = own.log.children("tea", [first.turn.message_id])[first.turn.message_id]
    assert len(children) == 2


def test_a_late_answer_does_not_become_the_head_over_a_question_elsewhere(own):
    first = ask(own, "one?")
    ask(own, "another?", place=behind(ROOT))
    answer(own, first, "one.")
    assert thread(own) == ["another?"]
    assert own.manager.set_head("tea", first.turn.message_id, to_newest=True)
    assert thread(own) == ["one?", "one."]


def test_what_was_put_behind_a_question_before_it_was_asked_again_stays_where_it_is(own):
    answer(own, ask(own, "one?"), "")
    answer(own, ask(own, "two?"), "two.")
    again = ask(own, "one?", place=behind(ROOT))
    answer(own, again, "one.")
    assert thread(own) == ["one?", "one."]
    assert own.manager.set_head("tea", again.turn.message_id + 1, to_newest=True)
    assert thread(own) == ["one?", "two?", "two."]


def test_of_two_answers_to_one_question_the_first_goes_in_between_and_the_other_stands_beside_it(own):
    first, same = ask(own, "one?"), ask(own, "one?")
    ask(own, "two?")
    answer(own, first, "one.")
    answer(own, same, "One!")
    assert thread(own) == ["one?", "one.", "two?"]
    children = own.log.children("tea", [first.turn.message_id])[first.turn.message_id]
    assert len(children) == 2


def test_a_clients_own_form_of_the_answer_is_no_message_that_came_meanwhile(own):
    """It had the beginning of an answer, broke off and went on before the server had stored it."""
    first = ask(own, "one?")
    ask(own, "one?", "one", "two?", place=Place(parent_id=None, sends_new_only=False))
    answer(own, first, "one an", INCOMPLETE)
    assert thread(own) == ["one?", "one", "two?"]


def test_a_question_that_was_left_for_a_branch_takes_its_answer_along(own):
    first, second = ask(own, "one?"), ask(own, "two?")
    assert own.manager.set_head("tea", first.turn.message_id)
    answer(own, first, "one.")
    assert thread(own) == ["one?", "one."]
    assert own.manager.set_head("tea", second.turn.message_id)
    assert thread(own) == ["one?", "one.", "two?"]


def test_a_summary_that_reached_over_the_place_of_a_late_answer_is_dropped(own):
    first, second = ask(own, "one?"), ask(own, "two?")
    claim = present(own.log.claim_summary("tea", 60))
    summary = Summary(upto_message_id=second.turn.message_id, text="x", token_count=1, model="m")
    assert own.log.put_summary("tea", claim, summary)
    claim = present(own.log.claim_summary("tea", 60))
    answer(own, first, "one.")
    assert own.log.get_summary("tea") is None
    assert not own.log.put_summary("tea", claim, summary)
    assert SUMMARY_PREFIX not in shown(ask(own, "three?"))[0]


def test_an_answer_with_nothing_behind_it_leaves_a_summary_and_asks_for_one_vector(own):
    ids = answer(own, ask(own, "one?"), "one.")
    assert len(ids) == 1
    claim = present(own.log.claim_summary("tea", 60))
    assert own.log.put_summary("tea", claim, Summary(upto_message_id=ids[0], text="x", token_count=1, model="m"))
    answer(own, ask(own, "two?"), "two.")
    assert own.log.get_summary("tea") is not None


def test_the_two_messages_behind_a_late_answer_get_their_vectors_in_its_context(own):
    first, second = ask(own, "one?"), ask(own, "two?")
    (newest,) = answer(own, second, "two.")
    ids = answer(own, first, "one.")
    assert ids[1:] == [second.turn.message_id, newest]
    context = own.log.in_context(ids[1:], 2)
    assert [[one.message.text for one in before] for _, before in context] == [["one?", "one."], ["one.", "two?"]]


# --- any number of them, in any order


@dataclass
class Said:
    """What a thread has to hold in the end."""

    wanted: list[str] = field(default_factory=list)  # questions, each with its answer if it got one
    branches: int = 0


@pytest.mark.parametrize("first", staged(range(0, THREADS, AT_ONCE), quick=1))
def test_two_to_six_at_once_are_all_on_the_thread_whatever_comes_first(tmp_path, first: int):
    for seed in range(first, first + AT_ONCE):
        folder = tmp_path / str(seed)
        folder.mkdir()
        with opened(folder) as manager:
            own = own_of(manager)
            told = talk_at_once(own, random.Random(seed))
            assert thread(own) == told.wanted, seed
            tree = own.log.message_tree("tea", 999)
            assert sorted(one.message.text for one in tree if one.is_on_thread) == sorted(told.wanted)
            assert len(tree) == len(told.wanted) + 2 * told.branches


def talk_at_once(own: OwnConversations, chance: random.Random) -> Said:
    """Some rounds of two to six questions; answers come when they like, some say nothing, some break off."""
    told, number = Said(), 0
    for _ in range(chance.randint(1, 3)):
        waiting: list[tuple[str, StoredQuestion]] = []
        branches: list[StoredQuestion] = []
        left = chance.randint(2, 6)
        while left or waiting or branches:
            if left and (chance.random() < 0.6 or not (waiting or branches)):
                left, number = left - 1, number + 1
                waiting.append((f"question {number}", ask(own, f"question {number}")))
                told.wanted.append(f"question {number}")
            elif branches and chance.random() < 0.5:
                answer(own, branches.pop(), "aside.")
            elif waiting:
                text, asked = waiting.pop(chance.randrange(len(waiting)))
                say_one_of_all(own, text, asked, told, chance)
            if waiting and len(waiting) > 1 and chance.random() < 0.1:
                told.branches += 1
                branches.append(branch_off(own, waiting[-1][1], f"aside {told.branches}?"))
    return told


def say_one_of_all(
    own: OwnConversations, text: str, asked: StoredQuestion, told: Said, chance: random.Random
) -> None:
    kind = chance.choice(("stop", "stop", "stop", INCOMPLETE, "nothing"))
    answer(own, asked, "" if kind == "nothing" else f"to {text}", kind)
    if kind != "nothing":
        told.wanted.insert(told.wanted.index(text) + 1, f"to {text}")


def branch_off(own: OwnConversations, asked: StoredQuestion, text: str) -> StoredQuestion:
    """A client that names the place, and goes back to where the thread was."""
    head = present(own.manager.get_session("tea")).head
    branch = ask(own, text, place=behind(asked.turn.message_id))
    own.manager.set_head("tea", present(head))
    return branch


# --- in the whole program


@pytest_asyncio.fixture
async def chats(tmp_path, request):
    settings: dict[str, Any] = {}
    if getattr(request, "param", False):
        key = tmp_path / "kek"
        key.write_text(a_key())
        key.chmod(0o600)
        settings = {"encryption.mode": "fields", "encryption.key_file": str(key)}
    async with ScriptedLLM() as llm, opened_chats(tmp_path, llm, **settings) as opened:
        llm.rule(lambda asked: "messages" in asked.body, say)
        yield opened


def say(asked: Asked) -> Answer | str:
    question = asked.body["messages"][-1]["content"]
    return failure(400) if "fail" in question else f"To {question}"


async def begun(chats: Chats, text: str, **more: Any) -> Recorded:
    """A question that the model has not answered yet."""
    chat = ChatRequest(request=ModelRequest(messages=[text_message("user", text)], model="any"), stream=True)
    caller = Caller(scope=Scope(project=chats.project, user="user", conversation="tea"), request_id="r")
    return await chats.parts.chats.recorder.begin(chat, caller, shown="server", **more)


async def answered(chats: Chats, *recorded: Recorded) -> None:
    async def pass_on(batch: Sequence[Event]) -> None:
        return None

    for one in recorded:
        await chats.parts.chats.recorder.answer(one, pass_on)


@pytest.mark.parametrize("chats", staged([False, True], quick=1), indirect=True, ids=["plain", "encrypted"])
async def test_six_questions_that_are_answered_backwards_are_a_thread_of_six_turns(chats):
    questions = [await begun(chats, f"{number}?") for number in range(6)]
    await answered(chats, *reversed(questions))
    assert texts_of(await chats.lines()) == [text for number in range(6) for text in (f"{number}?", f"To {number}?")]
    await chats.chat("And now?", history="server")
    assert len(chats.shown) == 13


async def test_a_message_that_a_program_adds_meanwhile_comes_behind_the_answer(chats):
    asked = await begun(chats, "one?")
    added = {"messages": [{"role": "assistant", "content": "The kettle is hot."}]}
    assert (await chats.ask("POST", "/api/conversations/tea/messages", added)).status == 201
    branch = {"messages": [{"role": "user", "content": "aside"}], "parent_id": present(asked.turn).message_id}
    await chats.ask("POST", "/api/conversations/tea/messages", branch)
    await chats.ask("PUT", "/api/conversations/tea/head", {"message_id": present(asked.turn).message_id + 1})
    await answered(chats, asked)
    assert texts_of(await chats.lines()) == ["one?", "To one?", "The kettle is hot."]


@pytest.mark.costly("it opens the files of many users")
async def test_a_folder_that_was_closed_meanwhile_forgets_no_question_under_way(chats):
    first = await begun(chats, "one?")
    second = await begun(chats, "two?")
    conversations, scope = chats.parts.chats.conversations, Scope(project=chats.project, user="user")
    async with conversations.of(scope) as own:
        before = own
    for number in range(40):  # more than stay open
        await chats.ask("POST", f"/api/conversations?user_id=user{number}", {"id": "x"})
    async with conversations.of(scope) as own:
        assert own is not before
    await answered(chats, second, first)
    assert texts_of(await chats.lines()) == ["one?", "To one?", "two?", "To two?"]


async def test_a_question_whose_model_failed_keeps_its_place_without_an_answer(chats):
    first, second = await begun(chats, "fail?"), await begun(chats, "two?")
    with pytest.raises(MnemoirError, match="scripted failure"):
        await answered(chats, first)
    await answered(chats, second)
    assert texts_of(await chats.lines()) == ["fail?", "two?", "To two?"]


async def test_what_was_put_in_between_is_exported_and_comes_back_in_its_place(chats):
    first, second = await begun(chats, "one?"), await begun(chats, "two?")
    await answered(chats, second, first)
    exported = await chats.ask("GET", "/api/conversations/tea/export")
    await chats.ask("DELETE", "/api/conversations/tea")
    await chats.ask("POST", "/api/conversations/import", exported.body)
    assert texts_of(await chats.lines()) == ["one?", "To one?", "two?", "To two?"]
