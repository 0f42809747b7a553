"""kill -9 while clients add: what was acknowledged is there afterwards, whole, and nothing is there by half."""

import random
import threading
from typing import Any, cast

import apsw
import pytest
import requests

from tests.narrowing import present
from tests.serving import ServerProcess

pytestmark = pytest.mark.slow

KILLS = 50
CLIENTS = 4
PER_ADD = 3


class Writer(threading.Thread):
    """Adds batches until the server is gone; remembers which were acknowledged, and with which ids."""

    def __init__(
        self, server: ServerProcess, name: str, acknowledged: dict[str, list[str]], count: threading.Semaphore
    ):
        super().__init__(name=name)
        self._server, self._acknowledged, self._count = server, acknowledged, count

    def run(self) -> None:
        session = requests.Session()
        for number in range(10_000):
            label = f"{self.name} batch {number}"
            said = [{"role": "user", "content": f"{label} part {part}"} for part in range(PER_ADD)]
            try:
                body: dict[str, Any] = {"messages": said, "user_id": "everyone", "infer": False}
                answer = session.post(f"{self._server.url}/api/memories", json=body, timeout=60)
            except requests.RequestException:
                return
            if answer.status_code == 200:
                self._acknowledged[label] = [result["id"] for result in answer.json()["results"]]
                self._count.release()


def test_fifty_kills_lose_no_acknowledged_write_and_leave_no_half_add(tmp_path):
    rng = random.Random(7)
    acknowledged: dict[str, list[str]] = {}
    server = ServerProcess(tmp_path / "data")
    for round_ in range(KILLS):
        server.start()
        answered = threading.Semaphore(0)
        writers = [Writer(server, f"round {round_} client {n}", acknowledged, answered) for n in range(CLIENTS)]
        for writer in writers:
            writer.start()
        for _ in range(rng.randint(1, 12)):
            assert answered.acquire(timeout=60)
        threading.Event().wait(rng.random() * 0.02)  # a random point between two answers
        server.kill()
        for writer in writers:
            writer.join()
    assert_all_is_whole(server.data_dir / "mnemoir.db", acknowledged)


def assert_all_is_whole(path, acknowledged):
    db = apsw.Connection(str(path))
    try:
        assert db.execute("pragma integrity_check").fetchall() == [("ok",)]
        stored = dict(cast(list[tuple[str, str]], db.execute("select id, text from memories").fetchall()))
        missing = [label for label, ids in acknowledged.items() if not all(memory_id in stored for memory_id in ids)]
        assert missing == []
        batches: dict[str, int] = {}
        for text in stored.values():
            label = text.rsplit(" part ", 1)[0]
            batches[label] = batches.get(label, 0) + 1
        assert set(batches.values()) == {PER_ADD}
        (unsearched,) = present(
            db.execute(
                "select count(*) from memories as m where not exists"
                " (select 1 from entries as e where e.scope_id = m.scope_id and e.seq = m.seq)"
            ).fetchone()
        )
        assert unsearched == 0
        (silent,) = present(
            db.execute("select count(*) from memories where id not in (select memory_id from history)").fetchone()
        )
        assert silent == 0
    finally:
        db.close()
