"""A bucket over HTTP, as far as the object stores use S3: objects, conditions, listings in pages, and failures."""

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape, unescape

BUCKET = "notes"
PAGE = 3  # objects of one page of a listing


class Bucket:
    """What is stored. `failures` are statuses that the next requests get instead of an answer."""

    def __init__(self) -> None:
        self.objects: dict[str, tuple[bytes, datetime]] = {}
        self.failures: list[int] = []
        self.requests: list[str] = []
        self.guard = threading.Lock()
        self.url = ""

    def options(self) -> dict[str, object]:
        """How the store is reached."""
        return {
            "endpoint": self.url,
            "region": "us-east-1",
            "access_key_id": "id",
            "secret_access_key": "secret",
            "virtual_hosted_style_request": False,
            "client_options": {"allow_http": True},
        }


@contextmanager
def serving_bucket() -> Iterator[Bucket]:
    bucket = Bucket()
    handler = type("Handler", (_Handler,), {"bucket": bucket})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    bucket.url = f"http://127.0.0.1:{server.server_port}"
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    serving.start()
    try:
        yield bucket
    finally:
        server.shutdown()
        serving.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    bucket: Bucket
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if "list-type" in parse_qs(urlsplit(self.path).query):
            self._answer(self._list)
        else:
            self._answer(self._get)

    def do_HEAD(self) -> None:
        self._answer(self._get)

    def do_PUT(self) -> None:
        self._answer(self._put)

    def do_DELETE(self) -> None:
        self._answer(self._delete)

    def do_POST(self) -> None:
        self._answer(self._delete_many)

    def log_message(self, format: str, *args: object) -> None:
        pass

    @property
    def key(self) -> str:
        return unquote(urlsplit(self.path).path).removeprefix(f"/{BUCKET}").removeprefix("/")

    def _answer(self, work) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with self.bucket.guard:
            self.bucket.requests.append(f"{self.command} {self.key}")
            failure = self.bucket.failures.pop(0) if self.bucket.failures else None
            status, headers, content = (failure, {}, b"") if failure else work(body)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def _get(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        if self.key not in self.bucket.objects:
            return 404, {}, b"<Error><Code>NoSuchKey</Code></Error>"
        content, modified = self.bucket.objects[self.key]
        return 200, {"ETag": _tag(content), "Last-Modified": format_datetime(modified, usegmt=True)}, content

    def _put(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        there = self.bucket.objects.get(self.key)
        wanted = self.headers.get("If-Match")
        if (self.headers.get("If-None-Match") and there) or (wanted and (not there or _tag(there[0]) != wanted)):
            return 412, {}, b"<Error><Code>PreconditionFailed</Code></Error>"
        self.bucket.objects[self.key] = (body, datetime.now(UTC).replace(microsecond=0))
        return 200, {"ETag": _tag(body)}, b""

    def _delete(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        self.bucket.objects.pop(self.key, None)
        return 204, {}, b""

    def _delete_many(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        keys = [piece.split("</Key>")[0] for piece in body.decode().split("<Key>")[1:]]
        for key in keys:
            self.bucket.objects.pop(unescape(key), None)
        deleted = "".join(f"<Deleted><Key>{key}</Key></Deleted>" for key in keys)
        return 200, {}, f"<DeleteResult>{deleted}</DeleteResult>".encode()

    def _list(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        query = parse_qs(urlsplit(self.path).query)
        prefix, after = query.get("prefix", [""])[0], query.get("continuation-token", [""])[0]
        keys = sorted(key for key in self.bucket.objects if key.startswith(prefix) and key > after)
        page = keys[:PAGE]
        rest = f"<NextContinuationToken>{escape(page[-1])}</NextContinuationToken>" if keys[PAGE:] else ""
        entries = "".join(self._entry(key) for key in page)
        more = str(bool(keys[PAGE:])).lower()
        text = f"<ListBucketResult><IsTruncated>{more}</IsTruncated>{rest}{entries}</ListBucketResult>"
        return 200, {"Content-Type": "application/xml"}, text.encode()

    def _entry(self, key: str) -> str:
        content, modified = self.bucket.objects[key]
        return (
            f"<Contents><Key>{escape(key)}</Key><LastModified>{modified:%Y-%m-%dT%H:%M:%S.000Z}</LastModified>"
            f"<ETag>{escape(_tag(content))}</ETag><Size>{len(content)}</Size></Contents>"
        )


def _tag(content: bytes) -> str:
    return f'"{hashlib.md5(content).hexdigest()}"'
