"""The server dies, or its disk is full: what was acknowledged is there afterwards, and is there once."""

import json
import random
import resource
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path

import apsw
import pytest
import requests

from mnemoir.storage.conversations.vector_file import VectorFileStore
from tests.acceptance.conversation_kit import (
    FOLDER,
    Place,
    answered,
    environment_of,
    lines_of,
    open_place,
    path_of,
    said,
    text_of,
)
from tests.serving import ServerProcess

KILLS = 8
WRITERS = 4
PER_SAVE = 3
SESSIONS_FILE, VECTORS = "conversations.db", "mnemoir_embeddings"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    with open_place(tmp_path_factory.mktemp("crashes")) as opened:
        yield opened


@pytest.fixture
def talk(request):
    """A conversation for each test."""
    return request.node.name


# --- kill -9


class Writer(threading.Thread):
    """Saves and chats by turns until the server is gone, as a user of its own; remembers what was acknowledged."""

    def __init__(self, place: Place, name: str, round_: int, acknowledged: list[str], count: threading.Semaphore):
        super().__init__(name=name)
        self._place = Place(server=place.server, model=place.model)
        self._round, self._acknowledged, self._count = round_, acknowledged, count

    def run(self) -> None:
        for number in range(10_000):
            label = f"{self.name} round {self._round} number {number}"
            try:
                (self._chat if number % 3 == 2 else self._save)(label)
            except requests.RequestException:
                return
            self._acknowledged.append(label)
            self._count.release()

    def _save(self, label: str) -> None:
        told = [said(f"{label} part {part}") for part in range(PER_SAVE)]
        reply = self._place.ask(
            "POST", f"{path_of('talk')}/messages", params={"user_id": self.name}, json={"messages": told}
        )
        assert reply.status_code == 201, reply.text

    def _chat(self, label: str) -> None:
        assert self._place.chat([said(label)], "talk", user=self.name).endswith(label)


@pytest.mark.slow
def test_eight_kills_lose_no_message_double_none_and_leave_no_vector_out(tmp_path):
    rng = random.Random(31)
    acknowledged: dict[str, list[str]] = {f"writer{n}": [] for n in range(WRITERS)}
    with open_place(tmp_path) as place:
        for name in acknowledged:
            place.do("POST", "", {"id": "talk"}, user_id=name)
        for round_ in range(KILLS):
            answered_count = threading.Semaphore(0)
            writers = [Writer(place, name, round_, done, answered_count) for name, done in acknowledged.items()]
            for writer in writers:
                writer.start()
            for _ in range(rng.randint(1, 24)):
                assert answered_count.acquire(timeout=60)
            threading.Event().wait(rng.random() * 0.02)  # a random point between two answers
            place.server.kill()
            for writer in writers:
                writer.join()
            place.server.start()
        for name, labels in acknowledged.items():
            all_are_there_once(place.messages("talk", "tree", user_id=name), labels)
            place.flush("talk", user_id=name)
        place.server.stop()
        for name in acknowledged:
            (folder,) = place.conversations.glob(f"*/{name}")
            every_message_has_its_vector(folder)


def all_are_there_once(tree, labels):
    texts = Counter(message["content"] for message in tree if message["role"] == "user")
    assert set(texts.values()) == {1}
    saves, chats = (
        [label for label in labels if (int(label.split()[-1]) % 3 == 2) is is_chat] for is_chat in (False, True)
    )
    assert [label for label in saves if f"{label} part 0" not in texts] == []
    by_label = Counter(text.rsplit(" part ", 1)[0] for text in texts if " part " in text)
    assert set(by_label.values()) <= {PER_SAVE}  # a save is there whole or not at all
    said_by_id = {message["id"]: message["content"] for message in tree}
    answers_to = Counter(said_by_id[message["parent_id"]] for message in tree if message["role"] == "assistant")
    assert [label for label in chats if answers_to[label] != 1] == []
    ids = [message["id"] for message in tree]
    assert ids == sorted(set(ids))
    assert all(message["parent_id"] in (None, *said_by_id) for message in tree)


def every_message_has_its_vector(folder: Path) -> None:
    database = apsw.Connection(str(folder / SESSIONS_FILE))
    assert database.execute("pragma integrity_check").fetchall() == [("ok",)]
    messages = {f"msg_{id}" for (id,) in database.execute("select id from messages where content <> ''")}
    database.close()
    vectors = VectorFileStore(VECTORS, folder)
    assert set(vectors.get()[0]) == messages
    vectors.close()


# --- the same thing said many times


def test_one_history_sent_eight_times_at_once_and_again_later_is_stored_once(tmp_path):
    history = [said("First"), answered("Yes."), said("Second"), answered("Of course."), said("Third")]
    with open_place(tmp_path) as place:
        with ThreadPoolExecutor(8) as clients:
            replies = list(clients.map(lambda _: place.post(history, "talk").status_code, range(8)))
        place.server.kill()
        place.server.start()
        replies += [place.post(history, "talk").status_code for _ in range(2)]
        tree = place.messages("talk", "tree")
        assert lines_of(tree)[:5] == lines_of(history)
        answers = tree[5:]
        assert {(one["role"], one["parent_id"]) for one in answers} == {("assistant", tree[4]["id"])}
        assert len(answers) == replies.count(200)
        assert place.thread("talk") == lines_of([*history, answers[-1]])


def test_one_history_without_a_name_sent_eight_times_at_once_is_one_conversation(tmp_path):
    history = [said("First"), answered("Yes."), said("Second")]
    with open_place(tmp_path, MNEMOIR_MEMORY__ENABLED="true") as place:
        with ThreadPoolExecutor(8) as clients:
            replies = list(clients.map(lambda _: place.post(history), range(8)))
        assert len({reply.headers["x-conversation-id"] for reply in replies}) == 1
        (id,) = place.ids()
        assert lines_of(place.messages(id, "tree"))[:3] == lines_of(history)


def test_one_chat_sent_eight_times_at_once_under_one_key_is_stored_once(place, talk):
    def send(_):
        return place.http.post(
            f"{place.server.url}/v1/chat/completions",
            json={"model": "any", "messages": [said("Once")]},
            headers={"X-Session-Id": talk, "X-Idempotency-Key": talk},
            timeout=30,
        ).status_code

    with ThreadPoolExecutor(8) as clients:
        told = list(clients.map(send, range(8)))
    assert set(told) <= {200, 409}
    tree = place.messages(talk, "tree")
    assert [message["role"] for message in tree] == ["user", *["assistant"] * told.count(200)]


def test_one_file_imported_eight_times_at_once_is_there_once(place, talk):
    history = [said("First"), answered("Yes.")]
    place.do("POST", "", {"id": talk, "messages": history})
    file = place.ask("GET", f"{path_of(talk)}/export", params={"format": "jsonl"}).content
    place.do("DELETE", path_of(talk))
    with ThreadPoolExecutor(8) as clients:
        replies = list(
            clients.map(lambda _: place.ask("POST", "/import", params={"on_conflict": "skip"}, data=file), range(8))
        )
    assert [reply.status_code for reply in replies] == [200] * 8, [reply.text for reply in replies]
    assert sum(reply.json()["conversations"] for reply in replies) == 1
    assert lines_of(place.messages(talk, "tree")) == lines_of(history)


# --- many at once


@pytest.mark.slow
def test_sixteen_threads_save_fifty_times_each_while_a_reader_pages(place, talk):
    threads, saves = 16, 50
    place.do("POST", "", {"id": talk, "messages": [said("first of all")]})
    over = threading.Event()

    def save(number):
        client = Place(server=place.server, model=place.model)
        path = f"{path_of(talk)}/messages"
        return [
            client.ask("POST", path, json={"messages": [said(f"{number} says {count}")]}).status_code
            for count in range(saves)
        ]

    def page():
        client, pages = Place(server=place.server, model=place.model), 0
        while not over.is_set() or not pages:
            tree = [message["id"] for message in client.messages(talk, "tree", limit=100)]
            thread = [message["id"] for message in client.messages(talk, limit=100)]
            assert tree == sorted(set(tree))
            assert thread == sorted(set(thread))
            pages += 1
        return pages

    with ThreadPoolExecutor(threads + 1) as clients:
        reading = clients.submit(page)
        told = [status for statuses in clients.map(save, range(threads)) for status in statuses]
        over.set()
        assert reading.result() > 0
    assert Counter(told) == {201: threads * saves}
    thread = [message["content"] for message in place.messages(talk, limit=100)]
    assert len(thread) == threads * saves + 1
    for number in range(threads):
        own = [text for text in thread if text.startswith(f"{number} says")]
        assert own == [f"{number} says {count}" for count in range(saves)]


def test_a_second_server_on_the_same_data_is_refused_and_told_who_holds_it(place):
    with pytest.raises(AssertionError, match=str(place.server.pid)):
        ServerProcess(place.server.data_dir, environment=environment_of(place.model.llm)).start()


def test_a_second_server_on_the_same_conversations_is_refused_as_well(tmp_path):
    with open_place(tmp_path, MNEMOIR_MEMORY__STORAGE_PATH=str(tmp_path / "shared")) as place:
        place.chat([said("Here I am")], "talk")
        environment = environment_of(place.model.llm, MNEMOIR_MEMORY__STORAGE_PATH=str(tmp_path / "shared"))
        other = ServerProcess(tmp_path / "data-2", environment=environment)
        try:
            with pytest.raises(AssertionError, match="did not start"):
                other.start()
        finally:
            other.kill()


# --- the clock


def test_with_the_clock_set_back_messages_keep_the_order_in_which_they_were_said(place, talk):
    history = [said("Before"), answered("Yes.")]
    place.do("POST", "", {"id": talk, "messages": history})
    file = place.ask("GET", f"{path_of(talk)}/export", params={"format": "jsonl"}).text
    place.do("DELETE", path_of(talk))
    # as if it had been said by a clock that was an hour fast
    ahead = "\n".join(_an_hour_later(line) for line in file.splitlines())
    assert place.ask("POST", "/import", data=ahead).ok
    history.append(said("After"))
    history.append(answered(place.chat(history, talk)))
    place.do("POST", f"{path_of(talk)}/messages", {"messages": [said("at once"), said("and at once")]})
    history += [said("at once"), said("and at once")]
    assert place.thread(talk) == lines_of(history)
    times = [message["created_at"] for message in place.messages(talk)]
    assert times == sorted(times)
    place.chat([said("Last")], talk, history="server")
    shown = [text_of(message) for message in place.model.last_shown]
    assert shown[-6:] == [text for _, text in lines_of([*history, said("Last")])][-6:]


def _an_hour_later(line: str) -> str:
    """A line of an export with all of its times an hour on."""

    def later(value):
        if isinstance(value, dict):
            return {key: later(member) if key != "content" else member for key, member in value.items()}
        if isinstance(value, str) and value[:2] == "20" and "T" in value:
            return (datetime.fromisoformat(value) + timedelta(hours=1)).isoformat()
        return value

    return json.dumps(later(json.loads(line)))


# --- a full disk


def test_a_full_disk_refuses_saves_answers_chats_and_loses_nothing(tmp_path):
    with open_place(tmp_path) as place:
        history = [said("Before")]
        history.append(answered(place.chat(history, "talk")))
        room = resource.prlimit(place.server.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(place.server.pid, resource.RLIMIT_FSIZE, (0, room[1]))
        saved = place.ask("POST", f"{path_of('talk')}/messages", json={"messages": [said("No room")]})
        assert (saved.status_code, "code" in saved.json()) in ((503, True), (507, True)), saved.text
        made = place.ask("POST", "", json={"id": "new", "messages": [said("No room")]})
        assert made.status_code in (503, 507)
        assert place.ask("DELETE", path_of("talk")).status_code in (503, 507)
        assert place.chat([said("Anybody there?")], "talk").endswith("Anybody there?")
        assert place.thread("talk") == lines_of(history)
        assert place.ids() == ["talk"]
        resource.prlimit(place.server.pid, resource.RLIMIT_FSIZE, room)
        history.append(said("After"))
        history.append(answered(place.chat(history, "talk")))
        assert place.thread("talk") == lines_of(history)
        place.server.kill()
        place.server.start()
        assert place.thread("talk") == lines_of(history)


def test_files_of_conversations_lie_where_the_documentation_says(place, talk):
    place.chat([said("Hello")], talk, user="where")
    (file,) = place.server.data_dir.glob(f"{FOLDER}/*/where/{SESSIONS_FILE}")
    assert file.stat().st_mode & 0o077 == 0
