"""Eight writers and eight readers, a hundred requests each: no error, no lock, nothing missing."""

import threading
from typing import Any

import pytest
import requests

from tests.serving import ServerProcess

REQUESTS = 100
WRITERS = READERS = 8


class Client(threading.Thread):
    """Asks a hundred times; keeps every answer that is no success."""

    def __init__(self, url: str, number: int) -> None:
        super().__init__()
        self.url, self.number = f"{url}/api/memories", number
        self.done, self.session = 0, requests.Session()
        self.failed: list[tuple[int, str]] = []

    def ask(self) -> requests.Response:
        raise NotImplementedError

    def run(self) -> None:
        for _ in range(REQUESTS):
            answer = self.ask()
            if answer.status_code == 200:
                self.done += 1
            else:
                self.failed.append((answer.status_code, answer.text))


class Writer(Client):
    def ask(self) -> requests.Response:
        said = [{"role": "user", "content": f"writer {self.number} says {self.done}"}]
        body: dict[str, Any] = {"messages": said, "user_id": f"user {self.number % 4}", "infer": False}
        return self.session.post(self.url, json=body, timeout=60)


class Reader(Client):
    def ask(self) -> requests.Response:
        user = f"user {self.number % 4}"
        if self.done % 2:
            return self.session.get(self.url, params={"user_id": user, "limit": "50"}, timeout=60)
        return self.session.post(f"{self.url}/search", json={"query": "who says 7?", "user_id": user}, timeout=60)


@pytest.mark.slow
def test_eight_writers_and_eight_readers_never_meet_a_lock(tmp_path):
    with ServerProcess(tmp_path / "data") as server:
        writers = [Writer(server.url, number) for number in range(WRITERS)]
        readers = [Reader(server.url, number) for number in range(READERS)]
        for client in (*writers, *readers):
            client.start()
        for client in (*writers, *readers):
            client.join()
        assert [client.failed for client in (*writers, *readers)] == [[]] * (WRITERS + READERS)
        assert total(server) == sum(writer.done for writer in writers) == WRITERS * REQUESTS
        assert "database is locked" not in server.log.read_text()


def total(server: ServerProcess) -> int:
    """How many memories the four users have together."""
    listed = (
        requests.get(f"{server.url}/api/memories", params={"user_id": f"user {n}", "limit": "1"}, timeout=60).json()
        for n in range(4)
    )
    return sum(answer["total"] for answer in listed)
