"""A memory service that writes down what it is asked, over real HTTP: what `MEMORY_MANAGEMENT_URL` may point at.

with ScriptedMemory(hits=["Is vegetarian"]) as memory:
    ... let a server use memory.url ...
    added = memory.wait_for("/api/memories")
"""

import json
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

_PATIENCE_S = 120.0


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """One request as it came in; header names in lower case."""

    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any


class ScriptedMemory:
    """Answers searches with `hits`, and adds with the queued statuses, then 200.

    With `silent` a search is never answered; with `echoes` it is refused in words that repeat it.
    """

    def __init__(
        self,
        *,
        hits: Sequence[str] = (),
        statuses: Sequence[int] = (),
        port: int = 0,
        silent: bool = False,
        echoes: bool = False,
    ):
        self.wanted: list[Wanted] = []
        self.hits, self.statuses, self.silent, self.echoes = hits, deque(statuses), silent, echoes
        self._arrived, self._over = threading.Condition(), threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", port), _handler_for(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/api/memories"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), name="scripted memory")

    def __enter__(self) -> "ScriptedMemory":
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def asked(self, path: str) -> list[Wanted]:
        """The requests to `path` so far."""
        return [wanted for wanted in self.wanted if wanted.path == path]

    def wait_for(self, path: str, *, count: int = 1) -> list[Wanted]:
        """The requests to `path` when there are that many."""
        with self._arrived:
            assert self._arrived.wait_for(lambda: len(self.asked(path)) >= count, _PATIENCE_S), self.wanted
        return self.asked(path)

    def take(self, wanted: Wanted) -> tuple[int, Mapping[str, Any]]:
        """Write one request down; the status and body of its answer."""
        with self._arrived:
            self.wanted.append(wanted)
            self._arrived.notify_all()
        if wanted.path.endswith("/search"):
            if self.silent:
                self._over.wait(_PATIENCE_S)
            if self.echoes:
                return 422, {"detail": [{"loc": ["body"], "msg": "wrong", "input": wanted.body}]}
            found = [{"id": f"mem_{n}", "memory": text, "score": 0.9} for n, text in enumerate(self.hits)]
            return 200, {"results": [hit | {"created_at": "2026-03-04T09:15:00.000Z"} for hit in found]}
        status = self.statuses.popleft() if self.statuses else 200
        return status, {"results": [], "message": "Added 0 memories successfully"}


def _handler_for(memory: ScriptedMemory) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers["Content-Length"]))
            url = urlsplit(self.path)
            headers = {name.lower(): value for name, value in self.headers.items()}
            wanted = Wanted(path=url.path, query=dict(parse_qsl(url.query)), headers=headers, body=json.loads(sent))
            status, answer = memory.take(wanted)
            body = json.dumps(answer).encode()
            try:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except ConnectionError:
                self.close_connection = True  # the client did not wait

        def log_message(self, *about: object) -> None:
            """Says nothing."""

    return Handler
