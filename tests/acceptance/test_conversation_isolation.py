"""Nobody gets at another's conversations: whatever is asked, and in whatever order five users ask it.

Every message bears a mark of whose it is. In a random walk of each user's saves, chats, branches, searches and
deletions, each answer is looked at for another's marks, and what is stored is compared with a model of it.
"""

import random
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest

from tests.acceptance.conversation_kit import (
    CONVERSATIONS,
    Place,
    bytes_below,
    lines_of,
    open_place,
    path_of,
    said,
)
from tests.stages import staged

USERS = ("ann", "Ann", "ann/x", "ann%2Fx", "änn *")
IDS = ("talk", "Talk", "a/b", "x?y#z%2F", "ü ~")
FEW_STEPS, STEPS = 60, 300
_MARK = re.compile(r"mark([a-e])x")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    with open_place(tmp_path_factory.mktemp("isolation")) as opened:
        yield opened


@pytest.fixture
def talk(request):
    """A conversation for each test."""
    return request.node.name


# --- a random walk


@dataclass
class Known:
    """What a conversation must hold: its messages by id, as (role, content, parent), and its head."""

    messages: dict[int, tuple] = field(default_factory=dict)
    head: int | None = None

    def thread(self) -> list[tuple]:
        way, at = [], self.head
        while at is not None:
            role, content, parent = self.messages[at]
            way.append((role, content))
            at = parent
        return way[::-1]


class Walk:
    """Random steps of all users on one server, and what must come of them."""

    def __init__(self, place: Place, seed: int) -> None:
        self.place = place
        self.rng = random.Random(seed)
        self.known: dict[str, dict[str, Known]] = {user: {} for user in USERS}
        self.count = 0

    def step(self) -> None:
        user, id = self.rng.choice(USERS), self.rng.choice(IDS)
        known = self.known[user].get(id)
        steps = [self.chat, self.save] * 3
        steps += [self.resend, self.move, self.branch, self.rename, self.delete, self.export] if known else []
        steps += [self.search, self.list]
        self.rng.choice(steps)(user, id)

    def ask(self, user: str, method: str, path: str = "", *, body: object = None, status: int = 200, **query) -> dict:
        """Fails when the answer holds another user's mark, in its body or in its headers."""
        reply = self.place.ask(method, path, params={"user_id": user, **query}, json=body)
        self.holds_own_marks(user, reply)
        assert reply.status_code == status, (user, method, path, reply.text)
        return reply.json() if reply.headers["content-type"] == "application/json" else {}

    def holds_own_marks(self, user: str, reply) -> None:
        assert set(_MARK.findall(reply.text + str(reply.headers))) <= {self.letter(user)}, (user, reply.url)

    def letter(self, user: str) -> str:
        return "abcde"[USERS.index(user)]

    def words(self, user: str) -> str:
        self.count += 1
        return f"mark{self.letter(user)}x says number {self.count}"

    # what is done

    def chat(self, user: str, id: str) -> None:
        self.send(user, id, [said(self.words(user))])

    def resend(self, user: str, id: str) -> None:
        """The whole thread again: with a further message, an edited one, or for another answer."""
        thread = [{"role": role, "content": content} for role, content in self.known[user][id].thread()]
        questions = [n for n, message in enumerate(thread) if message["role"] == "user"]
        if not questions:
            return
        at = self.rng.choice(questions)
        how = self.rng.choice(["further", "edited", "regenerated"])
        if how == "further" and thread[-1]["role"] == "assistant":
            self.send(user, id, [*thread, said(self.words(user))])
        elif how == "edited":
            self.send(user, id, [*thread[:at], said(self.words(user))])
        else:
            self.send(user, id, thread[: at + 1])

    def send(self, user: str, id: str, messages: list) -> None:
        reply = self.place.post(messages, None, user=user, session_id=id)
        self.holds_own_marks(user, reply)
        assert reply.status_code == 200, reply.text
        answer = reply.json()["choices"][0]["message"]["content"]
        known = self.known[user].setdefault(id, Known())
        stored = self.tree(user, id)
        new = {number: line for number, line in stored.items() if number not in known.messages}
        self.is_grown(known, stored)
        assert list(new.values())[-1][:2] == ("assistant", answer)
        questions = [line[1] for line in new.values() if line[0] == "user"]
        assert questions in ([], [messages[-1]["content"]])
        known.messages, known.head = stored, max(new)
        assert known.thread()[-len(messages) - 1 :] == [*lines_of(messages), ("assistant", answer)]

    def save(self, user: str, id: str) -> None:
        known = self.known[user].setdefault(id, Known())
        parent = self.rng.choice([None, *known.messages]) if known.messages else None
        body = {"messages": [said(self.words(user)) for _ in range(self.rng.randint(1, 3))]}
        if not known.messages:
            del self.known[user][id]
            self.ask(user, "POST", body={"id": id, **body}, status=201)
            stored = self.tree(user, id)
            self.known[user][id] = Known(messages=stored, head=max(stored))
            return
        told = self.ask(
            user, "POST", f"{path_of(id)}/messages", body=body | ({"parent_id": parent} if parent else {}), status=201
        )
        at = parent or known.head
        for message in told["results"]:
            known.messages[message["id"]] = (message["role"], message["content"], at)
            at = known.head = message["id"]

    def move(self, user: str, id: str) -> None:
        known = self.known[user][id]
        known.head = self.rng.choice(list(known.messages))
        told = self.ask(user, "PUT", f"{path_of(id)}/head", body={"message_id": known.head})
        assert told["head"] == known.head
        foreign = next(
            (other.head for name, talks in self.known.items() if name != user for other in talks.values()), None
        )
        if foreign is not None and foreign not in known.messages:
            self.ask(user, "PUT", f"{path_of(id)}/head", body={"message_id": foreign}, status=404)

    def branch(self, user: str, id: str) -> None:
        known, new = self.known[user][id], f"branch {self.count}"
        at = self.rng.choice(list(known.messages))
        status = 409 if new in self.known[user] else 201
        self.ask(user, "POST", f"{path_of(id)}/branch", body={"message_id": at, "id": new}, status=status)
        if status == 201:
            stored = self.tree(user, new)
            assert [line[:2] for line in stored.values()] == Known(known.messages, at).thread()
            self.known[user][new] = Known(stored, max(stored))

    def rename(self, user: str, id: str) -> None:
        title = self.words(user)
        assert self.ask(user, "PATCH", path_of(id), body={"title": title, "tags": [title]})["title"] == title

    def delete(self, user: str, id: str) -> None:
        if self.rng.random() < 0.5:
            del self.known[user][id]
            self.ask(user, "DELETE", path_of(id))
            self.ask(user, "GET", path_of(id), status=404)

    def export(self, user: str, id: str) -> None:
        format = self.rng.choice(["jsonl", "json", "markdown", "chatml"])
        self.ask(user, "GET", f"{path_of(id)}/export", format=format)
        self.ask(user, "GET", "/export")

    def search(self, user: str, id: str) -> None:
        mode = self.rng.choice(["hybrid", "keyword", "semantic"])
        other = self.rng.choice(USERS)
        query = f"mark{self.letter(other)}x says number {self.rng.randint(1, self.count + 1)}"
        within = self.rng.choice([{}, {"conversation_id": id}])
        is_there = not within or id in self.known[user]
        told = self.ask(user, "GET", "/search", status=200 if is_there else 404, q=query, mode=mode, **within)
        for hit in told.get("results", []):
            stored = self.known[user][hit["conversation_id"]].messages[hit["message"]["id"]]
            assert stored[:2] == (hit["message"]["role"], hit["message"]["content"])

    def list(self, user: str, id: str) -> None:
        assert sorted(self.place.ids(user_id=user, limit=3)) == sorted(self.known[user])

    # what is there

    def tree(self, user: str, id: str) -> dict[int, tuple]:
        messages = self.place.messages(id, "tree", user_id=user)
        return {one["id"]: (one["role"], one["content"], one["parent_id"]) for one in messages}

    def is_grown(self, known: Known, stored: dict[int, tuple]) -> None:
        """Whether all that was there is there as it was."""
        assert {number: stored.get(number) for number in known.messages} == known.messages

    def check(self) -> None:
        for user, talks in self.known.items():
            assert sorted(self.place.ids(user_id=user)) == sorted(talks)
            for id, known in talks.items():
                assert self.tree(user, id) == known.messages
                assert self.place.thread(id, user_id=user) == known.thread()
                self.ask(user, "GET", path_of(id))


@pytest.mark.costly("a long walk")
@pytest.mark.parametrize("steps", staged([FEW_STEPS, STEPS], quick=1))
def test_five_users_in_a_random_walk_see_and_change_their_own_alone(place, steps):
    walk = Walk(place, seed=23)
    for number in range(steps):
        walk.step()
        if number % 100 == 99:
            walk.check()
    place.server.kill()
    place.server.start()
    walk.check()
    for user, talks in walk.known.items():  # nothing is left for later tests
        for id in talks:
            walk.ask(user, "DELETE", path_of(id))


# --- one by one


def test_a_foreign_id_and_an_unknown_one_are_answered_alike(place, talk):
    place.chat([said("Mine")], talk, user="owner")
    message = place.messages(talk, user_id="owner")[0]["id"]
    for method, below, body in (
        ("GET", "", None),
        ("PATCH", "", {"title": "x"}),
        ("DELETE", "", None),
        ("PUT", "/head", {"message_id": message}),
        ("POST", "/branch", {"message_id": message}),
        ("GET", "/messages", None),
        ("POST", "/messages", {"messages": [said("x")], "parent_id": message}),
        ("PATCH", f"/messages/{message}", {"pinned": True}),
        ("GET", "/window", None),
        ("GET", "/export", None),
        ("POST", "/flush", {}),
        ("GET", "/node-memory", None),
        ("DELETE", "/node-memory", None),
        ("GET", "/node-memory/app%2Fnode", None),
        ("DELETE", "/node-memory/app%2Fnode", None),
        ("GET", "/attachments", None),
    ):
        foreign, unknown = (
            place.ask(method, f"{path_of(id)}{below}", params={"user_id": "stranger"}, json=body)
            for id in (talk, "x" * len(talk))
        )
        assert (foreign.status_code, unknown.status_code) == (404, 404), (method, below, foreign.text)
        assert error_of(foreign, talk) == error_of(unknown, "x" * len(talk))
        ignored = {"date", "x-request-id", "content-length"}
        told = [{name for name in reply.headers if name.lower() not in ignored} for reply in (foreign, unknown)]
        assert told[0] == told[1]
    assert place.thread(talk, user_id="owner")[0] == ("user", "Mine")


def test_a_chat_cannot_go_on_behind_another_s_message(place, talk):
    for user in ("owner", "stranger"):
        place.chat([said(f"Mine, says {user}")], talk, user=user)
    place.chat([said("More")], talk, user="owner", history="server")
    ids = {message["id"] for message in place.messages(talk, user_id="owner")}
    foreign = ids - {message["id"] for message in place.messages(talk, user_id="stranger")}
    before = place.thread(talk, user_id="owner")
    for message in foreign:
        taken, unknown = (
            place.post([said("x")], talk, user="stranger", parent_id=parent) for parent in (message, 1_000_000)
        )
        assert (taken.status_code, error_of(taken, str(message))) == (400, error_of(unknown, "1000000"))
    assert foreign
    assert place.thread(talk, user_id="owner") == before
    assert len(place.messages(talk, view="tree", user_id="stranger")) == 2


def error_of(reply, id):
    """All that is said, but for the ids of the request and of what was asked for."""
    return {key: str(value).replace(id, "") for key, value in reply.json().items() if key != "request_id"}


@pytest.mark.parametrize(
    "user", ["", " ", "*", "null", "%", "..", ".", "ann'--", '{"ne": "x"}', "ann\0", "a" * 5000, "ann,ben"]
)
def test_no_name_of_a_user_stands_for_another_s(place, user):
    place.do("POST", "", {"id": "named", "messages": [said("markax is Ann's")]}, user_id="names-ann")
    for path, query in (("", {}), ("/search", {"q": "markax"}), (path_of("named"), {}), ("/export", {})):
        reply = place.ask("GET", path, params={"user_id": user, **query})
        assert reply.status_code in (200, 400, 404, 422), (path, reply.text)
        assert "markax" not in reply.text
    pruned = place.ask("POST", "/prune", json={"user_id": user, "days": 0})
    assert pruned.status_code in (200, 400, 422)
    assert place.thread("named", user_id="names-ann") == [("user", "markax is Ann's")]
    place.do("DELETE", path_of("named"), user_id="names-ann")


@pytest.mark.parametrize("user", [None, "", ["ann"], {"ne": "x"}, 7, True])
def test_a_body_s_user_that_is_no_name_is_nobody_else(place, user):
    place.do("POST", "", {"id": "kept", "messages": [said("Hi")]}, user_id="body-ann")
    for path, body in (("/prune", {"days": 0}), ("", {"title": "new"})):
        reply = place.ask("POST", path, json={"user_id": user, **body})
        assert reply.status_code in (200, 201, 400, 422), reply.text
    assert place.thread("kept", user_id="body-ann") == [("user", "Hi")]
    place.do("DELETE", path_of("kept"), user_id="body-ann")


def test_two_projects_of_one_user_are_apart(place, talk):
    for project in ("one", "two"):
        place.do("POST", "", {"id": talk, "messages": [said(f"in {project}")]}, project=project)
    assert place.thread(talk, project="one") == [("user", "in one")]
    place.do("DELETE", path_of(talk), project="one")
    assert place.ids(project="one") == []
    assert place.thread(talk, project="two") == [("user", "in two")]
    assert place.ask("GET", path_of(talk)).status_code == 404


def test_users_with_one_conversation_id_at_the_same_time_have_their_own(place, talk):
    def chat(user):
        client = Place(server=place.server, model=place.model)
        for count in range(8):
            client.chat([said(f"{user} {count}")], talk, user=user)
        return [content for role, content in client.thread(talk, user_id=user) if role == "user"]

    users = [f"at-once-{n}" for n in range(6)]
    with ThreadPoolExecutor(len(users)) as clients:
        assert list(clients.map(chat, users)) == [[f"{user} {count}" for count in range(8)] for user in users]


def test_deleting_and_pruning_leave_every_byte_of_other_users_as_it_was(place, talk):
    users = [f"bytes-{n}" for n in range(5)]
    for user in users:
        place.do("POST", "", {"id": talk, "messages": [said(f"{user} {n}") for n in range(20)]}, user_id=user)
        place.flush(talk, user_id=user)

    def others():
        folders = [folder for user in users[1:] for folder in place.conversations.glob(f"*/{user}")]
        digests = {str(folder): bytes_below(folder) for folder in folders}
        return {
            folder: {name: digest for name, digest in files.items() if not name.endswith("-shm")}
            for folder, files in digests.items()
        }

    before = others()
    assert len(before) == 4
    place.do("DELETE", path_of(talk), user_id=users[0])
    place.do("POST", "", {"id": talk, "messages": [said("again")]}, user_id=users[0])
    place.do("POST", "/prune", {"user_id": users[0], "days": 0})
    assert place.ids(user_id=users[0]) == []
    assert others() == before
    assert [place.ids(user_id=user) for user in users[1:]] == [[talk]] * 4


def test_looking_for_what_is_not_there_makes_no_folder(place):
    for path in ("", "/search?q=x", "/export", path_of("talk"), f"{path_of('talk')}/messages"):
        place.http.get(
            f"{place.server.url}{CONVERSATIONS}{path}", params={"user_id": "only-looking"}, timeout=30
        ).close()
    place.do("POST", "/prune", {"user_id": "only-looking", "days": 0})
    assert list(place.conversations.glob("*/only-looking")) == []


@pytest.mark.parametrize("user", ["../up", "a/b", "..", "C:x", "CON", "nul.txt", "a\\b", "x" * 200, "trailing ", "."])
def test_no_user_s_folder_is_outside_and_names_that_differ_share_none(place, user):
    reply = place.ask("POST", "", params={"user_id": user}, json={"id": "t", "messages": [said(f"of {user}")]})
    assert reply.status_code in (201, 400, 422), reply.text
    if reply.status_code == 201:
        assert place.thread("t", user_id=user) == [("user", f"of {user}")]
        place.do("DELETE", path_of("t"), user_id=user)
    outside = {path.name for path in place.server.data_dir.parent.iterdir()}
    assert outside == {"data", "data.log"}
    depths = {
        len(file.relative_to(place.conversations).parts) for file in place.conversations.rglob("conversations.db")
    }
    assert depths <= {3}


def test_an_idempotency_key_of_another_user_answers_nothing_of_theirs(place, talk):
    headers = {"X-Idempotency-Key": "same", "Idempotency-Key": "same"}
    for user in ("key-ann", "key-ben"):
        reply = place.http.post(
            f"{place.server.url}{CONVERSATIONS}",
            params={"user_id": user},
            json={"id": talk, "messages": [said(f"of {user}")]},
            headers=headers,
            timeout=30,
        )
        assert reply.status_code == 201
        assert place.thread(talk, user_id=user) == [("user", f"of {user}")]
