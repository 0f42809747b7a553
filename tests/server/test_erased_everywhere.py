"""After an erasure no name, id or word of the person is in any file, whatever stored it, nor in a database of locks.

All files below the data directory are looked at, with logs and journals of databases, and the databases of workflow
locks that lie elsewhere. The words are random, so nobody else says them.
"""

import sqlite3
import string
from contextlib import closing
from pathlib import Path
from random import choices

import pytest

from mnemoir.core.scope import Scope
from tests.remembering_model import learn_every_turn
from tests.server.served_tree import answering, locking, served
from tests.server.server_kit import asks, succeeded
from tests.server.test_discussion_routes import REMEMBERING, SETTINGS
from tests.server.test_subjects import holding, learned

LOCKS = "WilmerDb.Ann.sqlite"
MAKE = {"title": "Sum up", "type": "QualityMemory"}


def a_word() -> str:
    return "".join(choices(string.ascii_lowercase, k=24))


class Told:
    """A person, and what they say."""

    def __init__(self) -> None:
        self.user, self.talk, self.word = a_word(), a_word(), a_word()
        self.all = [self.user, self.talk, self.word]


async def tell(server, told: Told, key: dict[str, str]) -> None:
    """A chat that takes a lock and is remembered, a fact, searches, an export, and a title."""
    lines = [{"role": "user", "content": f"My {told.word} number {n} is made of thin blue china."} for n in range(4)]
    for last in (1, 4):
        chat = {"model": "Ann", "conversation_id": told.talk, "metadata": {"session_id": told.talk}}
        asked = chat | {"messages": lines[:last], "memoryEnabled": True}
        await server.post("/v1/chat/completions", asked, **key)
    said = {"messages": [{"role": "user", "content": f"Owns a {told.word}"}], "infer": False}
    await server.post("/api/memories", said, **key)
    await server.post("/api/memories/search", {"query": told.word}, **key)
    await server.ask("GET", "/api/export", **key)
    await server.ask("PATCH", f"/api/conversations/{told.talk}", {"title": told.word}, **key)
    await learned(server, Scope(project="default", user=told.user))


def left_behind(database: Path, *words: str) -> None:
    """A lock of a program that was killed, whose time is over, and others that a program deleted as any does."""
    with closing(sqlite3.connect(database)) as connection, connection:
        for word in words:
            row = ("killed", word, "2020-01-01 00:00:00.000000")
            add = "INSERT INTO WorkflowLocks (WilmerSessionId, WorkflowLockId, ExpirationDate) VALUES (?, ?, ?)"
            connection.execute(add, row)
            connection.executemany(add, [("gone", f"{word} {number}" * 9, "") for number in range(99)])
            connection.execute("DELETE FROM WorkflowLocks WHERE WilmerSessionId = 'gone'")


@pytest.fixture(params=["default place", "place of the user's file"])
def locks(request, tmp_path):
    """The folder of the locks, and what the user's file says of it."""
    own = request.param == "default place"
    return (
        (tmp_path / "data", {})
        if own
        else (tmp_path / "elsewhere", {"sqlLiteDirectory": str(tmp_path / "elsewhere")})
    )


@pytest.fixture
async def running(open_server, llm, tmp_path, locks):
    learn_every_turn(llm)
    nodes = [locking("memory of {Discussion_Id}"), MAKE, answering()]
    tree = served(tmp_path, llm.url, *nodes, files=SETTINGS, user=REMEMBERING | locks[1])
    server = await open_server(asks(llm) | tree)
    keys = server.parts.access.api_keys
    return server, {"x_api_key": keys.create(role="admin", by="test")[1]}, keys


async def test_of_an_erased_person_no_name_id_or_word_is_in_any_file(running, tmp_path, locks):
    server, admin, keys = running
    told, other = Told(), Told()
    for one in (told, other):
        key = {"x_api_key": keys.create(role="write", user=one.user, label=one.user, by="test")[1]}
        await tell(server, one, key)
    left_behind(locks[0] / LOCKS, told.talk)
    assert holding(tmp_path, *told.all).keys() == {*told.all}
    succeeded(await server.ask("POST", f"/api/subjects/{told.user}/erase", **admin))
    assert holding(tmp_path, *told.all) == {}
    assert holding(tmp_path, *other.all).keys() == {*other.all}
    await server.parts.aclose()
    assert holding(tmp_path, *told.all) == {}
