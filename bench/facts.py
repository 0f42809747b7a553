"""Searching ten thousand facts over HTTP: in English, at a time, and with both embedding models.

Each question is new, so embedding it is part of the time. The processor time is that of the server alone; on a busy
machine it tells more than the time a client waits.
"""

import json
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil
import requests

from bench.memories import questions, texts
from bench.report import median, ms, percentile, table
from tests.serving import ServerProcess

SIZE = 10_000
SEARCHES = 60
_AT_ONCE = 5_000
_STORED_AT = "2026-01-01T09:00:00.000Z"
_GERMAN = "Wer sammelt noch Landkarten, und seit wann?"


class Facts:
    """A timed client of one server with the facts of one user."""

    def __init__(self, server: ServerProcess) -> None:
        self._url = server.url
        self._process = psutil.Process(server.pid)
        self._session = requests.Session()

    def fill(self, said: list[str]) -> None:
        """Import the texts as facts."""
        for start in range(0, len(said), _AT_ONCE):
            lines = [_line(text) for text in said[start : start + _AT_ONCE]]
            self._session.post(f"{self._url}/api/import", data="\n".join(lines).encode()).raise_for_status()
        self._wait_for_vectors()

    def speak_german(self) -> None:
        """Have the multilingual model loaded, and its vectors made."""
        while "degraded" in self._ask(_GERMAN, {}).json():
            time.sleep(0.5)

    def measure(self, name: str, asked: list[str], **query: str) -> list[str]:
        """One row: the searches for new questions."""
        self._search("who is she?", query)
        before = self._used_s()
        took = [self._search(question, query) for question in asked]
        used = (self._used_s() - before) / len(asked)
        return [name, ms(median(took)), ms(percentile(took, 0.95)), ms(used)]

    def _search(self, query: str, parameters: dict[str, str]) -> float:
        started = time.perf_counter()
        self._ask(query, parameters)
        return time.perf_counter() - started

    def _ask(self, query: str, parameters: dict[str, str]) -> requests.Response:
        body: dict[str, Any] = {"query": query, "user_id": "one", "limit": 10}
        answer = self._session.post(f"{self._url}/api/memories/search", params=parameters, json=body)
        answer.raise_for_status()
        return answer

    def _wait_for_vectors(self) -> None:
        while self._session.get(f"{self._url}/ready").json()["vectors"]["pending"]:
            time.sleep(0.5)

    def _used_s(self) -> float:
        used = self._process.cpu_times()
        return float(used.user + used.system)


def _line(text: str) -> str:
    return json.dumps({"memory": text, "user_id": "one", "created_at": _STORED_AT})


def run(size: int = SIZE) -> None:
    """Run the whole benchmark on one server."""
    asked = list(dict.fromkeys(questions(8 * SEARCHES)))
    with tempfile.TemporaryDirectory() as folder, ServerProcess(Path(folder) / "data") as server:
        facts = Facts(server)
        facts.fill(texts(size))
        rows = [facts.measure("English", asked[:SEARCHES])]
        rows.append(facts.measure("English, at a time", asked[SEARCHES : 2 * SEARCHES], at="2026-02-01"))
        facts.speak_german()
        rows.append(facts.measure("both models", asked[2 * SEARCHES : 3 * SEARCHES]))
        header = ["", "search, median", "search, p95", "processor, mean"]
        table(f"{size:,} facts over HTTP (embedding included)", header, rows)
