"""A backup made beside a server under load misses nothing acknowledged before it, and comes back whole."""

import hashlib
import json
import subprocess
import sys
import threading
from base64 import b64encode
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import apsw
import pytest
import requests

from tests.acceptance.conversation_kit import FOLDER, Place, open_place, said
from tests.cli.command_process import run
from tests.serving import ServerProcess, clean_environment
from tests.tree_kit import eventually
from tests.workflows.nodes.pictures import png

WRITERS = ("anna", "bob", "carla")
QUIET = "mira"
BEFORE = 40  # acknowledged writes of all


@dataclass
class Acknowledged:
    """What the server said was stored for a user: texts of memories, and messages with the bytes of their picture."""

    memories: list[str] = field(default_factory=list)
    messages: list[tuple[str, bytes]] = field(default_factory=list)


class Writer(threading.Thread):
    """Writes memories and messages with pictures by turns until it is told to stop."""

    def __init__(self, place: Place, name: str, count: threading.Semaphore) -> None:
        super().__init__(name=name)
        self._place, self._count = Place(server=place.server, model=place.model), count
        self.acknowledged = Acknowledged()
        self.stops = threading.Event()

    def run(self) -> None:
        number = 0
        while not self.stops.is_set():
            self.remember(f"Note {number} of {self.name}")
            self.show(f"See {number} of {self.name}")
            self._count.release()
            number += 1

    def remember(self, text: str) -> None:
        body: dict[str, Any] = {"messages": [said(text)], "user_id": self.name, "infer": False}
        reply = requests.post(f"{self._place.server.url}/api/memories", json=body, timeout=60)
        assert reply.ok, reply.text
        self.acknowledged.memories.append(text)

    def show(self, text: str) -> None:
        picture = png(filler=text.encode() * 20)
        url = f"data:image/png;base64,{b64encode(picture).decode()}"
        content = [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": url}}]
        self._place.chat([said(content)], "talk", user=self.name)
        self.acknowledged.messages.append((text, picture))


def exported(url: str, user: str) -> list[str]:
    """The digests of a user's memories and conversations."""
    paths = (f"/api/export?user_id={user}", f"/api/conversations/export?user_id={user}")
    replies = [requests.get(url + path, timeout=60) for path in paths]
    assert [reply.status_code for reply in replies] == [200, 200]
    return [hashlib.sha256(reply.content).hexdigest() for reply in replies]


def is_there(place: Place, user: str, wanted: Acknowledged) -> None:
    """Fail unless the server has all that was acknowledged."""
    listed = requests.get(f"{place.server.url}/api/export", params={"user_id": user}, timeout=60).text.splitlines()
    assert set(wanted.memories) <= {json.loads(line)["memory"] for line in listed}
    talk = place.ask("GET", "/export", params={"user_id": user}).text
    for text, picture in wanted.messages:
        assert text in talk
        assert b64encode(picture).decode() in talk


@pytest.fixture
def written(tmp_path):
    """A server to which three users write, and a fourth one has written."""
    with open_place(tmp_path) as place:
        count = threading.Semaphore(0)
        quiet = Writer(place, QUIET, count)
        quiet.remember("I live in Graz.")
        quiet.show("Where I live")
        place.flush("talk", user_id=QUIET)
        writers = [Writer(place, name, count) for name in WRITERS]
        for writer in writers:
            writer.start()
        try:
            for _ in range(BEFORE):
                assert count.acquire(timeout=120)
            yield place, writers, count
        finally:
            for writer in writers:
                writer.stops.set()
            for writer in writers:
                writer.join()


@pytest.mark.slow
def test_a_backup_under_load_holds_all_that_was_acknowledged_before_it_and_comes_back_whole(written, tmp_path):
    place, writers, count = written
    before = {
        writer.name: Acknowledged(list(writer.acknowledged.memories), list(writer.acknowledged.messages))
        for writer in writers
    }
    of_quiet = exported(place.server.url, QUIET)
    made = run("backup", "create", "backup", "--data-dir", str(place.server.data_dir), cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    for _ in range(len(writers)):
        assert count.acquire(timeout=120)  # the server goes on
    checked = run("backup", "verify", "backup", cwd=tmp_path)
    assert (checked.returncode, checked.stdout) == (0, f"{'backup'}  whole\n")
    restored = run("backup", "restore", "backup", "--data-dir", "elsewhere/data", cwd=tmp_path)
    assert restored.returncode == 0, restored.stderr
    databases = list((tmp_path / "elsewhere").rglob("*.db"))
    assert len(databases) == 1 + 2 * (len(writers) + 1)
    for path in databases:
        with closing(apsw.Connection(str(path))) as connection:
            assert connection.pragma("integrity_check") == "ok"
    with_a_vector_each(tmp_path / "elsewhere/data" / FOLDER)
    found = run("doctor", "--data-dir", "elsewhere/data", "--json", cwd=tmp_path)
    assert [one for one in json.loads(found.stdout)["checks"] if one["state"] == "fail"] == []
    with ServerProcess(tmp_path / "elsewhere/data") as server:
        again = Place(server=server, model=place.model)
        assert exported(server.url, QUIET) == of_quiet
        for name, wanted in before.items():
            is_there(again, name, wanted)
            assert again.do("POST", "", {"id": "new"}, user_id=name)["id"] == "new"


def with_a_vector_each(conversations):
    """Fail unless every message that is noted to have a vector has one, and no vector is of a later message."""
    for folder in conversations.glob("*/*"):
        with (
            closing(apsw.Connection(str(folder / "conversations.db"))) as talk,
            closing(apsw.Connection(str(folder / "mnemoir_embeddings.vectors.db"))) as vectors,
        ):
            noted = {id for (id,) in talk.execute("SELECT message_id FROM embedding_state WHERE status = 'embedded'")}
            known = {id for (id,) in talk.execute("SELECT id FROM messages")}
            there = {int(id.removeprefix("msg_")) for (id,) in vectors.execute("SELECT id FROM vectors")}
            assert noted <= there <= known


@pytest.mark.slow
def test_a_backup_that_is_killed_leaves_none_that_verifies_and_the_next_one_is_whole(written, tmp_path):
    place, _, _ = written
    discussions = place.server.data_dir / "discussions"
    discussions.mkdir(exist_ok=True)
    with closing(apsw.Connection(str(discussions / "tea_vector_memory.db"))) as held:
        held.execute("CREATE TABLE some (one)")
        held.execute("BEGIN EXCLUSIVE")  # the backup waits for its end
        command = ["backup", "create", "backup", "--data-dir", str(place.server.data_dir)]
        backup = subprocess.Popen(
            [sys.executable, "-m", "mnemoir", *command], cwd=tmp_path, env=clean_environment(), stderr=subprocess.PIPE
        )
        with backup:
            unfinished = tmp_path / ".backup.unfinished"
            eventually(lambda: list(unfinished.glob("data/conversations/*/*/*.db")))
            backup.kill()
        held.execute("DROP TABLE some")
        held.execute("COMMIT")
    assert not (tmp_path / "backup").exists()
    refused = run("backup", "verify", unfinished.name, cwd=tmp_path)
    assert refused.returncode == 1
    assert "is no whole backup: it has no backup.json" in refused.stdout
    assert run("backup", "create", *command[2:], cwd=tmp_path).returncode == 0
    assert run("backup", "verify", "backup", cwd=tmp_path).returncode == 0
    assert not unfinished.exists()
