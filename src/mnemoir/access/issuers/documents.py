"""JSON documents of identity providers: what an issuer says of itself, its keys, and its answers about tokens."""

import asyncio
import json
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import aiohttp

from mnemoir.core.errors import IssuerUnavailable
from mnemoir.providers.http import most_of
from mnemoir.settings.issuers import safe_url

_MOST_BYTES = 1024 * 1024
_PATIENCE = aiohttp.ClientTimeout(total=10)
_DESCRIPTION = "/.well-known/openid-configuration"
_LONGEST_SAID = 300
_LONGEST_AGE_S = 366 * 86_400
_Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A JSON object; `sent_at` is the time at its source, None where that says none."""

    status: int = 200
    body: _Json
    sent_at: datetime | None = None


class Documents:
    """Reads documents over the network. Every method may raise IssuerUnavailable."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    async def get(self, url: str) -> Document:
        """The document at `url`."""
        found = await self._exchange("GET", url)
        if found.status != 200:
            raise IssuerUnavailable(f"{url} answered {found.status} where a document was expected.")
        return found

    async def of_issuer(self, issuer: str) -> _Json:
        """What the issuer says of itself: its addresses, and what it is able to do."""
        url = issuer.rstrip("/") + _DESCRIPTION
        body = (await self.get(url)).body
        if body.get("issuer") != issuer:
            named = str(body.get("issuer"))[:_LONGEST_SAID]
            raise IssuerUnavailable(f"{url} is of the issuer {named!r}, and the settings name {issuer!r}.")
        return body

    async def post(self, url: str, form: Mapping[str, str], *, user: str = "", secret: str | None = None) -> Document:
        """The answer to a form; with a `secret`, in the name of `user`, whatever its status."""
        headers = {}
        if secret is not None:  # both are encoded as in a form, before they are joined
            pair = f"{quote(user, safe='')}:{quote(secret, safe='')}"
            headers["authorization"] = "Basic " + b64encode(pair.encode()).decode()
        return await self._exchange("POST", url, data=dict(form), headers=headers)

    async def _exchange(self, method: str, url: str, **more: Any) -> Document:
        try:
            safe_url(url)
        except ValueError as exc:
            raise IssuerUnavailable(f"{url[:_LONGEST_SAID]!r} is not asked: it {exc}.") from None
        try:
            async with self._session.request(method, url, allow_redirects=False, timeout=_PATIENCE, **more) as answer:
                raw = await most_of(answer, _MOST_BYTES)
                return Document(status=answer.status, body=_object(url, raw), sent_at=_sent_at(answer.headers))
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as exc:
            why = str(exc)[:_LONGEST_SAID] or type(exc).__name__
            raise IssuerUnavailable(f"{url} could not be reached: {why}.") from exc


async def document_in(path: Path) -> Document:
    """The document in a file. Raises IssuerUnavailable."""

    def read() -> bytes:
        with path.open("rb") as file:
            return file.read(_MOST_BYTES + 1)

    try:
        raw = await asyncio.to_thread(read)
    except OSError as exc:
        raise IssuerUnavailable(f"{path} cannot be read: {exc.strerror}.") from exc
    return Document(body=_object(str(path), raw if len(raw) <= _MOST_BYTES else None))


def address_in(document: _Json, name: str, issuer: str) -> str:
    """An address that an issuer names in what it says of itself. Raises IssuerUnavailable.

    One that is not on this machine cannot lead there.
    """
    url = document.get(name)
    if not isinstance(url, str):
        raise IssuerUnavailable(f"The issuer {issuer} names no {name}.")
    if issuer.startswith("https:") and not url.startswith("https:"):
        raise IssuerUnavailable(f"The {name} of {issuer} is not an address of https: {url[:_LONGEST_SAID]!r}.")
    try:
        return safe_url(url)
    except ValueError as exc:
        raise IssuerUnavailable(f"The {name} of {issuer} {exc}; it is {url[:_LONGEST_SAID]!r}.") from None


def _object(source: str, raw: bytes | None) -> _Json:
    if raw is None:
        raise IssuerUnavailable(f"{source} is larger than {_MOST_BYTES} bytes.")
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise IssuerUnavailable(f"{source} is no JSON object.")
    return body


def _sent_at(headers: Mapping[str, str]) -> datetime | None:
    """The time at the source when it was read: that of the document, and its age in caches on the way."""
    try:
        at = parsedate_to_datetime(headers["Date"])
        age_s = min(int(headers.get("Age", "0")), _LONGEST_AGE_S)
    except (KeyError, ValueError, TypeError):
        return None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)) + timedelta(seconds=max(age_s, 0))
