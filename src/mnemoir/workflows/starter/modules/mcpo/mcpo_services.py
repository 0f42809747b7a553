"""Requests to the services of an MCPO server: limited in size and time, and never to another server.

Names of services and tools come from a model. The name of a service has only letters, digits, `_` and `-`, and all
other parts of an address are encoded, so that no name leads to another server. No proxy is used, because MCPO runs on
the same machine or network.
"""

import os
import re
from http.client import HTTPException, HTTPResponse
from time import monotonic
from typing import IO, Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from Middleware.utilities.config_utils import get_config_value  # type: ignore[import-not-found]

USUAL_URL = "http://localhost:8889"
_SERVICE = re.compile(r"[A-Za-z0-9_-]{1,100}")
_PATH = re.compile(r"/[A-Za-z0-9_.~%{}/-]*")
_PIECE_BYTES = 64 * 1024


class ServiceError(Exception):
    """A service cannot be asked, or its answer is unusable; the message names the service and the cause."""


def service_url(service: str, path: str) -> str:
    """The address of `path` at a service. Raises ServiceError for an invalid name or path."""
    if not _SERVICE.fullmatch(service):
        raise ServiceError(f"{service[:100]!r} is no name of a service")
    if not _PATH.fullmatch(path) or "//" in path or any(step in (".", "..") for step in path.split("/")):
        raise ServiceError(f"{path[:100]!r} is no path of {service}")
    return f"{_base_url()}/{service}{path}"


def fetch(
    method: str, url: str, *, body: bytes | None = None, timeout_s: float, most_bytes: int
) -> tuple[int, bytes]:
    """Status and body of the answer, of any status. Raises ServiceError without an answer."""
    end_at = monotonic() + timeout_s
    headers = {"Accept": "application/json"} | ({"Content-Type": "application/json"} if body is not None else {})
    try:
        request = Request(url, data=body, headers=headers, method=method)
        with _answer(request, timeout_s) as answer:
            return answer.status or 0, _read(answer, end_at, most_bytes)
    except (OSError, HTTPException, ValueError) as exc:
        raise ServiceError(f"{url} gave no answer: {exc}") from exc


def _base_url() -> str:
    """The MCPO_URL of the user's file, else of the environment, else MCPO's usual address."""
    url = str(get_config_value("MCPO_URL") or os.environ.get("MCPO_URL") or USUAL_URL).strip().rstrip("/")
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc:
        raise ServiceError("MCPO_URL must be an address that begins with http:// or https://")
    return url


def _answer(request: Request, timeout_s: float) -> HTTPResponse | HTTPError:
    opener = build_opener(ProxyHandler({}), _SameServer())
    try:
        answer: HTTPResponse = opener.open(request, timeout=timeout_s)
    except HTTPError as exc:
        return exc  # an HTTPError is also an answer
    return answer


def _read(answer: HTTPResponse | HTTPError, end_at: float, most_bytes: int) -> bytes:
    pieces = bytearray()
    while piece := answer.read1(_PIECE_BYTES):
        pieces += piece
        if len(pieces) > most_bytes:
            raise ValueError(f"it is longer than {most_bytes} bytes")
        if monotonic() > end_at:
            raise TimeoutError("it took too long")
    return bytes(pieces)


class _SameServer(HTTPRedirectHandler):
    """Follows redirects within the same server only."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> Request | None:
        if urlsplit(newurl)[:2] != urlsplit(req.full_url)[:2]:
            raise ValueError("it leads to another server")
        return super().redirect_request(req, fp, code, msg, headers, newurl)
