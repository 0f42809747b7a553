"""An answer that is stored behind its question when the thread has gone on, by whatever clock."""

from itertools import permutations

import pytest

from mnemoir.core.conversations import ROOT, MessageNotFoundError, MessageRecord
from mnemoir.storage.conversations.sqlite_sessions import MemoryStorage
from mnemoir.storage.sqlite.transactions import SqliteSql
from tests.conversations.session_kit import Hands, behind_the_back, said, texts
from tests.narrowing import present


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
def storage(tmp_path, hands):
    with MemoryStorage(tmp_path / "m.db", clock=hands) as opened:
        yield opened


def answer(text: str) -> MessageRecord:
    return said(text, role="assistant")


def chain(storage: MemoryStorage, hands: Hands, count: int, *, seconds: float) -> list[int]:
    """Questions one behind the other, each so many seconds later than the one before."""
    ids = []
    for number in range(count):
        ids += storage.append_messages("s", [said(f"{number}?")])
        hands.turn(seconds=seconds)
    return ids


@pytest.mark.parametrize(
    "seconds", [1.0, 0.000001, 0.0, -1.0], ids=["goes on", "just goes on", "stands", "goes back"]
)
def test_a_late_answer_finds_its_place_by_a_clock_that_stands_or_is_set_back(storage, hands, seconds):
    for order in permutations(range(4)):
        storage.clear_messages("s")
        ids = chain(storage, hands, 4, seconds=seconds)
        for at in order:
            storage.put_answer("s", answer(f"{at}."), ids[at], followers=set(ids))
            hands.turn(seconds=seconds)
        rows = storage.thread_messages("s", 99)[::-1]
        assert [one.message.text for one in rows] == [f"{at}{mark}" for at in range(4) for mark in "?."]
        assert [one.parent_id for one in rows] == [ROOT, *(one.id for one in rows[:-1])]
        places = [(present(one.created_at), one.id) for one in rows]
        assert places == sorted(places)


def test_a_late_answer_is_as_old_as_its_place(storage, hands):
    first, second = chain(storage, hands, 2, seconds=60)
    (late, *_) = storage.put_answer("s", answer("0."), first, followers={second})
    times = {one.id: present(one.created_at) for one in storage.message_tree("s", 9)}
    assert times[first] < times[late] < times[second]
    assert (times[second] - times[first]).total_seconds() == 60


@pytest.mark.parametrize("known", ["0? 1? 2?", "0? 0. 1? 2?", "0? 0. 1? 1. 2?", "0? 1? 1. 2?"])
def test_a_client_that_does_not_know_a_late_answer_goes_on_where_it_was(storage, hands, known):
    first, second = chain(storage, hands, 2, seconds=1)
    storage.put_answer("s", answer("0."), first, followers={second})
    storage.put_answer("s", answer("1."), second)
    history = [said(text, role="user" if text.endswith("?") else "assistant") for text in known.split()]
    placed = storage.append("s", history)
    assert len(placed.added) == 1
    assert [one.text for one in storage.load_messages("s")][:3] == ["0?", "0.", "1?"]
    assert storage.append("s", history[:-1]).added == []


def test_only_messages_behind_the_question_get_another_parent(storage, hands):
    first, second, third = chain(storage, hands, 3, seconds=1)
    (branch,) = storage.append_messages("s", [said("aside")], parent_id=first)
    storage.set_head("s", third)
    (late, *_) = storage.put_answer("s", answer("0."), first, followers={second, third, 999})
    parents = {one.id: one.parent_id for one in storage.message_tree("s", 9)}
    assert parents == {first: ROOT, second: late, third: second, branch: first, late: first}
    assert texts(storage) == ["0?", "0.", "1?", "2?"]


def test_messages_of_another_program_get_their_parents_first(storage, hands):
    (first,) = chain(storage, hands, 1, seconds=1)
    with behind_the_back(storage.db_path) as file:
        query = "INSERT INTO messages (session_id, role, content, created_at) VALUES ('s', 'user', '1?', ?)"
        file.execute(query, ("2026-03-04T12:00:09",))
    storage.put_answer("s", answer("0."), first, followers={first + 1})
    assert texts(storage) == ["0?", "0.", "1?"]


def test_an_answer_without_its_question_is_refused_and_leaves_nothing(storage):
    with pytest.raises(MessageNotFoundError, match="no message 7"):
        storage.put_answer("s", answer("0."), 7, followers={8})
    assert storage.get_session("s") is None


def test_an_answer_to_the_head_takes_the_statements_of_any_message(storage, hands, monkeypatch):
    ran: list[str] = []
    for kind in ("run", "rows", "row", "value", "many", "each"):
        monkeypatch.setattr(SqliteSql, kind, _noting(getattr(SqliteSql, kind), ran))
    (question,) = storage.append_messages("s", [said("0?")])
    ran.clear()
    (head,) = storage.append_messages("s", [answer("0.")], parent_id=question)
    plain = [*ran]
    ran.clear()
    storage.put_answer("s", answer("1."), head)
    assert (ran, len(plain)) == (plain, 3)


def _noting(through, ran: list[str]):
    def noting(self, query, *args, **values):
        ran.append(query)
        return through(self, query, *args, **values)

    return noting
