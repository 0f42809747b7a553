"""Memory over HTTP, at `MEMORY_MANAGEMENT_URL`; when that is this very server, the same route without the socket."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlsplit

import aiohttp
import orjson
from starlette.types import ASGIApp

from mnemoir.core.errors import (
    ProviderError,
    ProviderInvalidOutput,
    ProviderRefused,
    ProviderTimeout,
    ProviderUnavailable,
)
from mnemoir.core.fence import RecalledLine
from mnemoir.core.scope import Scope
from mnemoir.ports.memory_service import ChatTurn, Learned, Recalled
from mnemoir.providers.asgi_call import AsgiAnswer, call_asgi
from mnemoir.providers.http import in_turns

_MOST_SHOWN = 500  # characters of a refusal that go into our own message
_REMEMBER_TIMEOUT_S = 120.0  # an extraction may take two model calls


class HttpMemoryService:
    """Speaks the memory routes of any Mnemoir (or compatible) server.

    `service_key` is sent when the caller brought no credential, and always for what happens behind the reply.
    """

    def __init__(
        self,
        url: str,
        session: aiohttp.ClientSession,
        *,
        service_key: str | None = None,
        search_timeout_s: float = 2.0,
    ) -> None:
        self._url = url.rstrip("/")
        self._session = session
        self._service_key = service_key
        self._search_timeout_s = search_timeout_s
        self._app: ASGIApp | None = None

    def attach(self, app: ASGIApp) -> None:
        """From now on call `app` in this process: the URL points at it."""
        self._app = app

    async def search(self, scope: Scope, query: str, *, limit: int, credential: str | None) -> Recalled:
        """See the port. Gives up after the search timeout with ProviderTimeout."""
        body = {"query": query, "user_id": scope.user, "limit": limit}
        answer = await self._post(
            "/search", scope, body, _authorization(credential or self._service_key), timeout_s=self._search_timeout_s
        )
        results = answer.get("results")
        if not isinstance(results, list):
            raise ProviderInvalidOutput(f"The memory service at {self._url} answered a search without results.")
        lines = [_line(hit) for hit in results if isinstance(hit, dict) and isinstance(hit.get("memory"), str)]
        return Recalled(lines=lines, degraded=", ".join(map(str, answer.get("degraded") or ())))

    async def remember(self, scope: Scope, turn: ChatTurn, *, key: str) -> Sequence[Learned]:
        """See the port."""
        said = [{"role": "user", "content": turn.user_text}]
        if turn.answer:
            said.append({"role": "assistant", "content": turn.answer})
        metadata = {"session_id": scope.conversation, "source": "chat", "timestamp": turn.said_at}
        body = {"messages": said, "user_id": scope.user, "metadata": metadata, "timestamp": turn.said_at}
        headers = {**_authorization(self._service_key), "idempotency-key": key}
        answer = await self._post("", scope, body, headers, timeout_s=_REMEMBER_TIMEOUT_S)
        results = answer.get("results")
        return [learned for result in results if (learned := _learned(result))] if isinstance(results, list) else []

    async def _post(
        self, route: str, scope: Scope, body: Mapping[str, Any], headers: Mapping[str, str], *, timeout_s: float
    ) -> dict[str, Any]:
        target = f"{self._url}{route}?project={quote(scope.project, safe='')}"
        sent = {"content-type": "application/json", **headers}
        try:
            async with asyncio.timeout(timeout_s):
                answer = await self._send(target, orjson.dumps(body), sent)
        except TimeoutError as exc:
            raise ProviderTimeout(f"The memory service at {self._url} gave no answer in {timeout_s:g} s.") from exc
        except aiohttp.ClientError as exc:
            raise ProviderUnavailable(f"The memory service at {self._url} could not be reached: {exc}") from exc
        return self._read(answer)

    async def _send(self, target: str, body: bytes, headers: Mapping[str, str]) -> AsgiAnswer:
        if self._app is not None:
            local = urlsplit(target)
            return await call_asgi(self._app, "POST", f"{local.path}?{local.query}", headers=headers, body=body)
        async with self._session.post(
            target, data=in_turns(body), headers=headers, allow_redirects=False
        ) as response:
            return AsgiAnswer(status=response.status, headers={}, body=await response.read())

    def _read(self, answer: AsgiAnswer) -> dict[str, Any]:
        if answer.status >= 400:
            shown = answer.body[:_MOST_SHOWN].decode("utf-8", "replace")
            message = f"The memory service at {self._url} answered {answer.status}: {shown}"
            raise _failure(answer)(message, status=answer.status)
        try:
            read = orjson.loads(answer.body)
        except orjson.JSONDecodeError as exc:
            raise ProviderInvalidOutput(f"The memory service at {self._url} did not answer with JSON.") from exc
        if not isinstance(read, dict):
            raise ProviderInvalidOutput(f"The memory service at {self._url} did not answer with an object.")
        return read


def _failure(answer: AsgiAnswer) -> type[ProviderError]:
    """What kind of failure an answer is: one that may pass, one that will not, or a model that talks nonsense."""
    if b'"llm_invalid_output"' in answer.body:
        return ProviderInvalidOutput
    return ProviderUnavailable if answer.status >= 500 or answer.status in (401, 403, 408, 429) else ProviderRefused


def _authorization(key: str | None) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"} if key else {}


def _learned(result: object) -> Learned | None:
    """What one entry of an answer tells; None for one in another shape, for the turn is remembered even so."""
    if not isinstance(result, dict) or not isinstance(result.get("id"), str):
        return None
    return Learned(memory_id=result["id"], event=str(result.get("event", "")))


def _line(hit: Mapping[str, Any]) -> RecalledLine:
    day = hit.get("created_at")
    memory_id = hit.get("id")
    return RecalledLine(
        text=hit["memory"],
        day=day[:10] if isinstance(day, str) else "",
        id=memory_id if isinstance(memory_id, str) else "",
    )
