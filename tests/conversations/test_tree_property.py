"""Whatever is said, branched, moved, sent again and deleted: a session is what the plainest model says it is."""

import itertools
import shutil
import tempfile
from datetime import datetime, timedelta
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from mnemoir.core.conversations import ROOT, MessageRecord, SessionMetadata, Summary
from mnemoir.storage.conversations.sqlite_sessions import MemoryStorage
from tests.conversations.session_kit import NOON, Hands, behind_the_back
from tests.conversations.tree_model import Said, Tree
from tests.narrowing import present

NAMES = ("s", "t")
NAIVE_BEGINNING = datetime.min  # naive like all stored times
ROLES = ("user", "assistant", "assistant", "user", "tool")
sessions = st.sampled_from(NAMES)
places = st.integers(0, 30)
words = st.tuples(st.sampled_from(ROLES), st.sampled_from("abc"))
talks = st.lists(words, min_size=1, max_size=5)


class BranchesOfSessions(RuleBasedStateMachine):
    """Two sessions in one file, and the model of each."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.hands = Hands()
        self.storage = self.opened()
        self.trees: dict[str, Tree] = {}
        self.copies = itertools.count()
        self.open: dict[tuple[str, int], set[int]] = {}  # questions whose answers are under way, and what came behind

    def opened(self) -> MemoryStorage:
        return MemoryStorage(self.folder / "m.db", clock=self.hands)

    def teardown(self) -> None:
        self.storage.close()
        shutil.rmtree(self.folder)

    @property
    def now(self) -> int:
        return round((self.hands.now - NOON).total_seconds())

    def tree(self, name: str) -> Tree:
        return self.trees.setdefault(name, Tree())

    def some(self, name: str, place: int) -> int:
        """A message of the session, or ROOT."""
        ids = [ROOT, *self.tree(name).nodes]
        return ids[place % len(ids)]

    @rule(seconds=st.integers(-200, 300))
    def time_goes(self, seconds: int) -> None:
        self.hands.turn(seconds=seconds)

    @rule()
    def the_file_is_opened_again(self) -> None:
        self.storage.close()
        self.storage = self.opened()

    @rule(name=sessions, said=talks, place=places, at_head=st.booleans())
    def messages_are_appended(self, name: str, said: list[Said], place: int, at_head: bool) -> None:
        parent = None if at_head else self.some(name, place)
        ids = self.storage.append_messages(name, records(name, said), parent_id=parent)
        tree = self.tree(name)
        if at_head:
            self.open.get((name, tree.head), set()).add(ids[0])
        tree.append(ids, tree.head if parent is None else parent, said, self.now)
        self.open.setdefault((name, ids[-1]), set())

    @rule(place=places, said=words)
    def an_answer_comes_early_or_late(self, place: int, said: Said) -> None:
        if not self.open:
            return
        name, question = list(self.open)[place % len(self.open)]
        followers, tree = self.open.pop((name, question)), self.tree(name)
        [record] = records(name, [said])
        new = self.storage.put_answer(name, record, question, followers=followers)[0]
        tree.answer(new, question, said, self.now, followers)
        for one in self.storage.message_tree(name, 999):
            at = present(one.created_at) - NOON.replace(tzinfo=None)
            tree.nodes[one.id].at = at.total_seconds()

    @rule(name=sessions, said=words, seconds=st.integers(-900, 900))
    def a_message_of_another_time_is_saved(self, name: str, said: Said, seconds: int) -> None:
        at = self.now + seconds
        [record] = records(name, [said], created_at=NOON + timedelta(seconds=at))
        self.tree(name).let_in(self.storage.save_message(record), said, at)

    @rule(name=sessions, said=words)
    def another_program_adds_a_row(self, name: str, said: Said) -> None:
        tree = self.tree(name)
        at = max(self.now, tree.nodes[tree.head].at if tree.head else self.now)
        time = (NOON + timedelta(seconds=at)).replace(tzinfo=None).isoformat(timespec="microseconds")
        self.storage.open_session(name)
        with behind_the_back(self.storage.db_path) as file:
            query = "INSERT INTO messages (session_id, role, content, created_at) VALUES (?, ?, ?, ?) RETURNING id"
            new = file.execute(query, (name, *said, time)).get
        tree.append([new], tree.head, [said], at)

    @rule(name=sessions, place=places)
    def the_head_is_moved(self, name: str, place: int) -> None:
        target = self.some(name, place)
        assert self.storage.set_head(name, target) == (target != ROOT)
        self.tree(name).head = target or self.tree(name).head

    @rule(name=sessions, said=talks)
    def any_history_comes(self, name: str, said: list[Said]) -> None:
        self.history_comes(name, said)

    @rule(name=sessions, place=places, start=st.sampled_from([0, 0, 0, 1, 2]), new=st.lists(words, max_size=2))
    def a_known_history_comes_whole_or_cut(self, name: str, place: int, start: int, new: list[Said]) -> None:
        tree = self.tree(name)
        known = [tree.nodes[one].said for one in tree.way(self.some(name, place))]
        if said := [*known[start:], *new]:
            self.history_comes(name, [as_clients_show(one) for one in said])

    @rule(name=sessions, place=places, edited=places, new=words)
    def a_known_history_comes_edited(self, name: str, place: int, edited: int, new: Said) -> None:
        tree = self.tree(name)
        known = [tree.nodes[one].said for one in tree.way(self.some(name, place))]
        if known:
            known[edited % len(known)] = new
            self.history_comes(name, known)

    def history_comes(self, name: str, said: list[Said]) -> None:
        tree = self.tree(name)
        found, behind = tree.place(said)
        resumed = self.storage.append(name, records(name, said))
        assert resumed.ids[: len(found)] == found
        assert (resumed.added, resumed.parent_id) == (resumed.ids[len(found) :], behind)
        tree.head = behind
        tree.append(resumed.added, behind, said[len(found) :], self.now)
        again = self.storage.append(name, records(name, said))
        assert (again.ids, again.added) == (resumed.ids, [])

    @rule(name=sessions, place=places)
    def a_branch_is_copied(self, name: str, place: int) -> None:
        end = self.some(name, place)
        if end:
            copy = f"copy {next(self.copies)}"
            ids = self.storage.branch_session(name, end, copy, SessionMetadata())
            way = [self.tree(name).nodes[one] for one in self.tree(name).way(end)]
            new = self.tree(copy)
            for one, node in zip(ids, way, strict=True):
                new.append([one], new.head, [node.said], node.at)

    @rule(name=sessions)
    def the_context_is_cleared(self, name: str) -> None:
        tree = self.tree(name)
        assert (self.storage.mark_context(name) or 0) == tree.head
        tree.mark = tree.head

    @rule(name=sessions, place=places)
    def the_thread_is_summarised(self, name: str, place: int) -> None:
        upto, tree = self.some(name, place), self.tree(name)
        if upto and (claim := self.storage.claim_summary(name, 60)):
            summary = Summary(upto_message_id=upto, text="x", token_count=1, model="m")
            assert self.storage.put_summary(name, claim, summary) == (upto in tree.thread)
            self.storage.release_summary(name, claim)

    @rule(name=sessions, keeps_session=st.booleans())
    @precondition(lambda self: self.now % 3 == 0)
    def all_is_deleted(self, name: str, keeps_session: bool) -> None:
        count = len(self.tree(name).nodes)
        if keeps_session:
            assert self.storage.clear_messages(name) == count
        else:
            self.storage.delete_session(name)
        self.trees[name] = Tree()
        self.open = {place: followers for place, followers in self.open.items() if place[0] != name}

    @invariant()
    def the_store_holds_what_the_model_holds(self) -> None:
        for name, tree in self.trees.items():
            thread = tree.thread
            said = [(one.role, one.text) for one in self.storage.load_messages(name)]
            assert said == [tree.nodes[one].said for one in thread]
            assert self.storage.get_message_count(name) == len(thread)
            record = self.storage.get_session(name)
            assert record is None or ((record.head or 0), record.context_after or 0) == (tree.head, tree.begins_after)
            shown = thread[thread.index(tree.begins_after) + 1 :] if tree.begins_after else thread
            assert [one.id for one in self.storage.newest_messages(name, 999)] == shown[::-1]
            assert [one.id for one in self.storage.messages_between(name, None, None, 999)] == shown
            summary = self.storage.get_summary(name)
            assert summary is None or summary.upto_message_id in thread

    @invariant()
    def the_tree_is_that_of_the_model(self) -> None:
        """Reading it links what other programs wrote, so this is asked now and then only."""
        if self.now % 2:
            return
        for name, tree in self.trees.items():
            stored = self.storage.message_tree(name, 999)
            assert {one.id: (one.parent_id, one.is_on_thread) for one in stored} == {
                one: (node.parent, one in tree.thread) for one, node in tree.nodes.items()
            }
            assert [one.id for one in self.storage.thread_messages(name, 999)] == tree.thread[::-1]
            times = {one.id: present(one.created_at) for one in stored} | {ROOT: NAIVE_BEGINNING}
            assert all(times[present(one.parent_id)] <= present(one.created_at) for one in stored)


def records(name: str, said: list[Said], **more) -> list[MessageRecord]:
    return [MessageRecord(session_id=name, role=role, content=text, **more) for role, text in said]


def as_clients_show(said: Said) -> Said:
    role, text = said
    return role, f" <think>x</think>{text}\n" if role == "assistant" else f"{text} "


TestBranchesOfSessions = BranchesOfSessions.TestCase
TestBranchesOfSessions.settings = settings(max_examples=8, stateful_step_count=25, deadline=None)
