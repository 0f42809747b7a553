"""What is forgotten is gone: once a conversation is deleted, a search of every byte on the disk finds no word of it.

They are looked for in all files of the data directory, with logs and journals of databases, and in the server's log.
"""

import json
import os
import random
import shutil
import string
import threading
import time
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import apsw
import pytest
import requests

from tests.acceptance.conversation_kit import (
    Place,
    answered,
    bytes_below,
    environment_of,
    holds,
    lines_of,
    open_place,
    path_of,
    said,
)
from tests.acceptance.discussion_kit import ANSWER, MAKE, READ, kind_of, marks_in, open_house, record_of
from tests.acceptance.discussion_kit import said as marked
from tests.scripted_llm import Answer
from tests.serving import ServerProcess
from tests.tree_kit import eventually, settle
from tests.workflows.nodes.pictures import png

pytestmark = pytest.mark.costly("each byte on the disk is searched")
ANN, BEN = "ann", "ben"


class Words:
    """Words that nobody says by chance, each new."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)
        self.all: list[str] = []

    def new(self) -> str:
        self.all.append("".join(self._random.choices(string.ascii_lowercase, k=18)))
        return self.all[-1]


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with open_place(tmp_path_factory.mktemp("forgetting"), learns=True) as opened:
        yield opened


@pytest.fixture
def place(running):
    running.model.llm.clear()
    running.model.ready.clear()
    return running


@pytest.fixture
def words(request):
    return Words(request.node.name)


def everything_said(place: Place, id: str, words: Words, user: str, *, remembers: bool = True) -> None:
    """A conversation with every kind of thing in it that holds words."""
    facts = len(facts_of(place, user))
    tree = [said(f"I keep a {words.new()} at home"), said(f"or rather a {words.new()}")]
    for message in tree:  # two branches
        place.model.ready = [Answer(text=f"So it is a {words.new()}.")] * 2
        place.chat([message], id, user=user)
    picture = png(filler=words.new().encode())
    url = f"data:image/png;base64,{b64encode(picture).decode()}"
    content = [{"type": "text", "text": words.new()}, {"type": "image_url", "image_url": {"url": url}}]
    place.chat([{"role": "system", "content": f"You are {words.new()}."}, said(content)], id, user=user)
    call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": f'{{"a": "{words.new()}"}}'}}
    rounds = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": words.new()},
    ]
    place.do("POST", f"{path_of(id)}/messages", {"messages": rounds}, user_id=user)
    place.do("PATCH", path_of(id), {"title": words.new(), "tags": [words.new()]}, user_id=user)
    place.do("PATCH", path_of(id), {"custom": {words.new(): words.new()}}, user_id=user)
    stalled = [Answer(text=f"{words.new()} and more that never comes", stall_after=1)]
    place.model.ready = stalled
    with place.post([said(f"Tell me of {words.new()}")], id, user=user, stream=True) as stream:
        next(stream.iter_content(1))
    assert place.model.llm.wait_disconnected()
    place.model.llm.release()
    if remembers:
        place.chat([said(f"My aunt is called {words.new()}")], id, user=user, memoryEnabled=True)
        eventually(lambda: len(facts_of(place, user)) > facts)
    place.get("/search", q=words.all[0], user_id=user)
    place.flush(id, user_id=user)


def facts_of(place: Place, user: str) -> list[str]:
    listed = place.http.get(
        f"{place.server.url}/api/memories", params={"user_id": user, "limit": "1000"}, timeout=30
    ).json()
    return sorted(memory["memory"] for memory in listed["results"])


def found(place: Place, words: Words) -> dict[str, list[str]]:
    """Where any of the words still is."""
    return holds(place.server.data_dir, words.all, place.server.log)


def bytes_of(place: Place, user: str) -> dict[str, str]:
    """What a user has in files; readers of a database leave their marks in its -shm."""
    (folder,) = place.conversations.glob(f"*/{user}")
    return {name: digest for name, digest in bytes_below(folder).items() if not name.endswith("-shm")}


def test_the_search_of_bytes_finds_words_where_they_are(place, words):
    everything_said(place, "seen", words, "cleo")
    deadline = time.monotonic() + 30
    while set(found(place, words)) != set(words.all) and time.monotonic() < deadline:
        time.sleep(0.05)  # traces are written a moment behind the answer
    assert set(found(place, words)) == set(words.all)


def test_nothing_said_in_a_deleted_conversation_is_left_and_all_else_is(place, words):
    others = Words("77")
    everything_said(place, "talk", words, ANN)
    everything_said(place, "another", others, ANN, remembers=False)
    everything_said(place, "talk", others, BEN)
    kept = place.messages("another", "tree", user_id=ANN)
    bens, facts = bytes_of(place, BEN), facts_of(place, BEN)
    told = place.do("DELETE", path_of("talk"), user_id=ANN)
    assert (told["success"], told["messages"] > 8, told["memories"] >= 1) == (True, True, True)
    assert found(place, words) == {}
    assert place.messages("another", "tree", user_id=ANN) == kept
    assert (bytes_of(place, BEN), facts_of(place, BEN)) == (bens, facts)
    assert set(others.all) <= set(found(place, others))
    assert place.ask("GET", path_of("talk"), params={"user_id": ANN}).status_code == 404
    assert place.ids(user_id=ANN).count("talk") == 0
    for mode in ("hybrid", "keyword", "semantic"):
        hits = place.get("/search", q=" ".join(words.all[:3]), user_id=ANN, mode=mode)["results"]
        assert {hit["conversation_id"] for hit in hits} <= {"another"}
    place.server.stop()
    assert found(place, words) == {}
    place.server.start()
    assert found(place, words) == {}
    assert place.messages("another", "tree", user_id=ANN) == kept


def test_pruning_leaves_no_word_in_the_user_s_files_and_keeps_facts_and_what_is_to_be_kept(place, words):
    kept, bens = Words("78"), Words("79")
    everything_said(place, "old", words, "dora")
    everything_said(place, "old too", words, "dora", remembers=False)
    everything_said(place, "kept", kept, "dora", remembers=False)
    everything_said(place, "old", bens, "emil")
    place.do("PATCH", path_of("kept"), {"keep": True}, user_id="dora")
    before, facts = bytes_of(place, "emil"), facts_of(place, "dora")
    would = place.do("POST", "/prune", {"user_id": "dora", "days": 0, "dry_run": True})
    assert sorted(would["ids"]) == ["old", "old too"]
    assert len(holds(place.conversations, words.all)) > 8
    assert sorted(place.do("POST", "/prune", {"user_id": "dora", "days": 0})["ids"]) == ["old", "old too"]
    assert holds(place.conversations, words.all) == {}
    assert (place.ids(user_id="dora"), facts_of(place, "dora")) == (["kept"], facts)
    assert len(holds(place.conversations, kept.all)) > 8
    assert bytes_of(place, "emil") == before


def test_of_a_user_whose_everything_is_deleted_no_word_is_left(place, words):
    bens = Words("80")
    for id in ("one", "two/2"):
        everything_said(place, id, words, "fay")
    everything_said(place, "one", bens, "gus")
    before = bytes_of(place, "gus")
    for id in place.ids(user_id="fay"):
        place.do("DELETE", path_of(id), user_id="fay")
    gone = place.http.delete(f"{place.server.url}/api/memories", params={"user_id": "fay"}, timeout=60)
    assert gone.status_code == 200
    assert found(place, words) == {}
    assert (place.ids(user_id="fay"), bytes_of(place, "gus")) == ([], before)


def test_a_conversation_that_came_by_a_file_or_as_a_branch_goes_as_well(place, words):
    everything_said(place, "first", words, "hal", remembers=False)
    newest = place.messages("first", user_id="hal")[-1]["id"]
    place.do("POST", f"{path_of('first')}/branch", {"message_id": newest, "id": "branch"}, user_id="hal")
    file = place.ask("GET", f"{path_of('first')}/export", params={"format": "jsonl", "user_id": "hal"}).content
    body = {"params": {"format": "jsonl", "on_conflict": "rename", "user_id": "ida"}, "data": file}
    assert place.ask("POST", "/import", **body).ok
    place.do("DELETE", path_of("first"), user_id="hal")
    shown = place.messages("branch", user_id="hal")
    assert len(shown) > 4
    place.do("DELETE", path_of("branch"), user_id="hal")
    for id in place.ids(user_id="ida"):
        place.do("DELETE", path_of(id), user_id="ida")
    assert found(place, words) == {}


def test_a_branch_keeps_its_picture_when_the_conversation_it_came_from_goes(place):
    url = f"data:image/png;base64,{b64encode(png(filler=b'branch')).decode()}"
    place.chat([said([{"type": "text", "text": "See?"}, {"type": "image_url", "image_url": {"url": url}}])], "with")
    newest = place.messages("with")[-1]["id"]
    place.do("POST", f"{path_of('with')}/branch", {"message_id": newest, "id": "own"})
    place.do("DELETE", path_of("with"))
    place.chat([said("Still there?")], "own", history="server")
    assert url in json.dumps(place.model.last_shown)


@pytest.mark.parametrize("has_others", [True, False], ids=["beside others", "alone"])
def test_what_a_killed_writer_left_of_a_picture_goes_with_its_conversation(place, words, has_others):
    place.chat([said(words.new())], "half", user="jan")
    if has_others:
        everything_said(place, "half", words, "jan", remembers=False)
    (own,) = place.conversations.glob("*/jan")
    folder = own / "objects" / "attachments" / "half"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{'0' * 64}.png.tmp").write_text(words.new())
    place.do("DELETE", path_of("half"), user_id="jan")
    assert found(place, words) == {}


def test_a_client_that_sends_a_forgotten_conversation_again_begins_a_new_one(place):
    history = [said("Say it once")]
    history.append(answered(place.chat(history, "again")))
    place.do("DELETE", path_of("again"))
    history.append(said("Say it twice"))
    history.append(answered(place.chat(history, "again")))
    assert place.thread("again") == lines_of(history)


@pytest.mark.parametrize("learns", [False, True])
def test_an_answer_that_comes_after_its_conversation_was_deleted_is_kept_nowhere(place, words, learns):
    place.chat([said(words.new())], "gone", user="lea")
    place.model.ready = [Answer(text=f"{words.new()} {words.new()}", stall_after=1)]
    said_now = [said(f"My dog is called {words.new()}")]
    with place.post(said_now, "gone", user="lea", stream=True, memoryEnabled=learns) as stream:
        pieces = stream.iter_content(None)
        told = next(pieces)
        place.do("DELETE", path_of("gone"), user_id="lea")
        place.model.llm.release()
        told += b"".join(pieces)
    assert words.all[-1].encode() in told or words.all[-2].encode() in told
    settle(place.server)
    place.chat([said("My cat is called Minka")], "other", user="lea", memoryEnabled=True)
    eventually(lambda: facts_of(place, "lea"))  # what was to be learned before that has been learned
    assert (place.ids(user_id="lea"), facts_of(place, "lea")) == (["other"], ["My cat is called Minka"])
    assert found(place, words) == {}
    for id in place.ids(user_id="lea"):
        place.do("DELETE", path_of(id), user_id="lea")


def test_a_deletion_waits_for_what_is_being_learned_and_takes_it_too(place, words):
    place.chat([said("My uncle is a beekeeper")], "learning", user="max")
    asked = threading.Event()

    def silent(extraction):
        asked.set()
        return Answer(text=json.dumps({"facts": [words.all[-1]]}), silent=True)

    place.model.when_learning = silent
    place.chat([said(f"My aunt is called {words.new()}")], "learning", user="max", memoryEnabled=True)
    assert asked.wait(60)
    with ThreadPoolExecutor(1) as other:
        deleting = other.submit(place.do, "DELETE", path_of("learning"), user_id="max")
        place.model.llm.release()
        assert deleting.result()["success"]
    place.model.when_learning = lambda extraction: None
    settle(place.server)
    assert (facts_of(place, "max"), found(place, words)) == ([], {})


@pytest.mark.slow
def test_a_deletion_that_dies_half_way_is_finished_by_the_next_one(tmp_path):
    """Killed at a random moment, the server has deleted the conversation, or it can still be deleted whole."""
    words, rng = Words("81"), random.Random(81)
    with open_place(tmp_path) as place:
        for round_ in range(6):
            id = f"talk {round_}"
            everything_said(place, id, words, ANN, remembers=False)
            deleting = threading.Thread(target=delete_or_die, args=(place.server, id))
            (log,) = place.conversations.glob(f"*/{ANN}/conversations.db-wal")
            written = log.stat().st_mtime_ns
            deleting.start()
            if round_ % 2:  # the rows are deleted, and their bytes are not overwritten yet
                while deleting.is_alive() and log.stat().st_mtime_ns == written:
                    pass
            else:
                threading.Event().wait(rng.random() * 0.03)
            place.server.kill()
            deleting.join()
            place.server.start()
            again = place.ask("DELETE", path_of(id), params={"user_id": ANN})
            assert again.status_code in (200, 404)
            assert place.ask("GET", path_of(id), params={"user_id": ANN}).status_code == 404
            assert found(place, words) == {}, round_


def test_words_that_a_reader_kept_in_the_file_are_gone_once_the_file_is_opened_again(tmp_path):
    """Another program reads while a conversation is deleted, and the server dies before it has stopped reading."""
    words = Words("84")
    with open_place(tmp_path) as place, closing(requests.Session()) as http:
        everything_said(place, "read", words, ANN, remembers=False)
        (file,) = place.conversations.glob(f"*/{ANN}/conversations.db")
        with closing(apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READWRITE)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM messages").fetchall()
            place.do("DELETE", path_of("read"), user_id=ANN)
            assert found(place, words) != {}
            place.server.kill()
            shutil.copytree(place.server.data_dir, tmp_path / "data-2")
        with ServerProcess(tmp_path / "data-2", environment=environment_of(place.model.llm)) as server:
            again = Place(server=server, model=place.model, http=http)
            assert again.ids(user_id=ANN) == []
            eventually(lambda: found(again, words) == {})


def delete_or_die(server: ServerProcess, id: str) -> None:
    try:
        requests.delete(f"{server.url}/api/conversations{path_of(id)}", params={"user_id": ANN}, timeout=60)
    except requests.RequestException:
        return


def test_memories_of_discussions_and_of_nodes_go_with_their_conversation(tmp_path):
    """A tree that makes chunk summaries, a rolling summary, records and a node's memory of every conversation."""
    words, others = Words("82"), Words("83")
    with open_house(tmp_path) as house:
        house.write("Workflows/Ann/Chat.json", [*READ, {**ANSWER, "memory": {"mode": "node"}}, *MAKE])

        def with_words(asked):
            told = " ".join(word for word in (*words.all, *others.all) if word in asked.prompt)
            marks = marks_in(asked.body["messages"][-1]["content"])
            if kind_of(asked) == "records":
                return f"[{', '.join(json.dumps(record_of(mark, summary=f'{mark} {told}')) for mark in marks)}]"
            return f"Kept: {' '.join(marks)} {told}"

        house.model.trouble = with_words
        for id, these in (("talk", words), ("another", others)):
            messages = [{**one, "content": f"{one['content']} {these.new()}"} for one in marked(12)]
            for length in (6, 12):
                house.chat(id, messages[:length])
        settle(house.server)
        place = Place(server=house.server, model=None, http=house.session)  # type: ignore[arg-type]  # no model is asked
        users = {scope for file in place.conversations.rglob("conversations.db") for scope in [file.parent.name]}
        (user,) = users
        assert set(holds(tmp_path, words.all)) == set(words.all)
        assert house.summaries("talk") != []
        told = place.do("DELETE", path_of("talk"), user_id=user)
        assert (told["success"], told["node_memories"]) == (True, 1)
        assert holds(tmp_path, words.all) == {}
        assert house.summaries("another") != []
        assert set(holds(tmp_path, others.all)) == set(others.all)


def test_no_file_of_a_conversation_can_be_read_by_others_on_the_machine(place, words):
    everything_said(place, "private", words, "kim", remembers=False)
    (folder,) = place.conversations.glob("*/kim")
    modes = {str(path): os.stat(path).st_mode & 0o077 for path in (folder, *folder.rglob("*"))}
    assert {path: mode for path, mode in modes.items() if mode} == {}
