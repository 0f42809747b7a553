"""An MCPO server of two services, as far as a client of it sees one."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

WEATHER = {
    "paths": {
        "/forecast": {
            "post": {
                "operationId": "get_forecast",
                "summary": "The weather of a day",
                "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Ask"}}}},
            }
        },
        "/places/{place_id}": {
            "parameters": [{"name": "place_id", "in": "path", "schema": {"type": "string"}}],
            "get": {
                "operationId": "get_place",
                "parameters": [{"name": "max_size", "in": "query", "schema": {"type": "integer"}}],
            },
        },
        "/unnamed": {"get": {"summary": "without an id"}},
        "/elsewhere": {"get": {"operationId": "elsewhere"}},
        "/broken": {"get": {"operationId": "broken"}},
        "/endless": {"get": {"operationId": "endless"}},
    },
    "components": {
        "schemas": {
            "Ask": {
                "required": ["city"],
                "properties": {"city": {"type": "string", "description": "A city"}, "dayNumber": {"type": "integer"}},
            }
        }
    },
}
CLOCK = {"paths": {"/now": {"post": {"operationId": "get_forecast", "description": "Namesake"}}, "odd": 7, "/x": []}}


class ToolServer:
    """`requests` are what reached the tools: method, path and JSON body."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, Any]] = []
        server = self

        class Answers(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.answer(self)

            do_POST = do_GET

            def log_message(self, *args: object) -> None:
                """Quiet."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))

    def __enter__(self) -> "ToolServer":
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        descriptions = {"/weather/openapi.json": WEATHER, "/clock/openapi.json": CLOCK, "/list/openapi.json": [1]}
        if request.path in descriptions:
            return _send(request, 200, descriptions[request.path])
        if request.path.endswith("/openapi.json"):
            return _send(request, 404, {})
        body = request.rfile.read(int(request.headers.get("Content-Length") or 0))
        self.requests.append((request.command, unquote(request.path), json.loads(body) if body else None))
        if request.path.endswith("/elsewhere"):
            return _send(request, 302, {}, location="http://127.0.0.2:1/")
        if request.path.endswith("/endless"):
            return _send(request, 200, "x" * 9_000_000)
        return _send(request, 500 if request.path.endswith("/broken") else 200, {"said": request.path})


def _send(request: BaseHTTPRequestHandler, status: int, body: Any, location: str | None = None) -> None:
    request.send_response(status)
    if location:
        request.send_header("Location", location)
    text = json.dumps(body).encode()
    request.send_header("Content-Length", str(len(text)))
    request.end_headers()
    try:
        request.wfile.write(text)
    except OSError:
        request.close_connection = True  # the client had enough
