"""Client of the memory service at `MEMORY_MANAGEMENT_URL`; without HTTP when that URL is this server itself."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import aiohttp
import orjson

from mnemoir.core.errors import (
    ProviderError,
    ProviderInvalidOutput,
    ProviderRefused,
    ProviderTimeout,
    ProviderUnavailable,
)
from mnemoir.core.scope import Scope
from mnemoir.core.text import RecalledLine
from mnemoir.ports.memory_service import ChatTurn, MemoryChange, RecallLimits, RecallResult, Remembered
from mnemoir.providers.http import in_turns

LocalRoutes = Callable[[str, Scope, Mapping[str, Any], str | None], Awaitable[tuple[int, Mapping[str, Any]]]]
"""A function of route, scope, body and idempotency key that returns the status and the JSON of the answer."""

_MOST_SHOWN = 500  # characters of an error response that our message repeats
_REMEMBER_TIMEOUT_S = 120.0  # an extraction may take two model calls


class HttpMemoryService:
    """Client of the memory routes of any Mnemoir (or compatible) server.

    `service_key` is sent when the caller has no credential, and always for work after the reply.
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
        self._local: LocalRoutes | None = None

    def attach(self, local: LocalRoutes) -> None:
        """Call these routes in this process from now on; the URL points at this server."""
        self._local = local

    async def search(
        self, scope: Scope, query: str, *, limits: RecallLimits, credential: str | None, before: Sequence[str] = ()
    ) -> RecallResult:
        """See the port. Gives up after the search timeout with ProviderTimeout."""
        body = {
            "query": query,
            "user_id": scope.user,
            "limit": limits.count,
            "max_tokens": limits.tokens,
            "max_fact_tokens": limits.fact_tokens,
            "before": list(before),
        }
        credential = credential or self._service_key
        answer = await self._post("/search", scope, body, credential=credential, timeout_s=self._search_timeout_s)
        results = answer.get("results")
        if not isinstance(results, list):
            raise ProviderInvalidOutput(f"The memory service at {self._url} answered a search without results.")
        hits = [hit for hit in results if isinstance(hit, dict) and isinstance(hit.get("memory"), str)]
        ranked = sorted(enumerate(hits), key=lambda one: (str(one[1].get("created_at")), str(one[1].get("id"))))
        degraded = ", ".join(map(str, answer.get("degraded") or ()))
        return RecallResult(lines=[_line(hit, rank) for rank, hit in ranked], degraded=degraded)

    async def remember(self, scope: Scope, turn: ChatTurn, *, key: str) -> Remembered:
        """See the port."""
        said = [_message_body("user", turn.user_text, turn.user_uid)]
        if turn.answer:
            said.append(_message_body("assistant", turn.answer, turn.answer_uid))
        said += [_message_body(origin, text, None) for origin, text in turn.outside]
        metadata = {"session_id": scope.conversation, "source": "chat", "timestamp": turn.said_at}
        body: dict[str, Any] = {"messages": said, "user_id": scope.user, "metadata": metadata}
        body |= {"timestamp": turn.said_at} | ({"timezone": turn.zone} if turn.zone else {})
        if turn.context:
            body["context"] = [_message_body(role, text, None) for role, text in turn.context]
        answer = await self._post(
            "", scope, body, credential=self._service_key, key=key, timeout_s=_REMEMBER_TIMEOUT_S
        )
        known = [each["id"] for each in _list_in(answer, "known") if isinstance(each, dict) and "id" in each]
        return Remembered(
            changes=_changes(answer, "results"),
            known=[id for id in known if isinstance(id, str)],
            proposed=_changes(answer, "proposed"),
            left_out=_counts(answer, "left_out"),
        )

    async def _post(
        self,
        route: str,
        scope: Scope,
        body: Mapping[str, Any],
        *,
        credential: str | None,
        key: str | None = None,
        timeout_s: float,
    ) -> Mapping[str, Any]:
        try:
            async with asyncio.timeout(timeout_s):
                if self._local is not None:
                    return self._read(*await self._local(route, scope, body, key))
                return self._read(*await self._ask(route, scope, body, credential, key))
        except TimeoutError as exc:
            raise ProviderTimeout(f"The memory service at {self._url} gave no answer in {timeout_s:g} s.") from exc
        except aiohttp.ClientError as exc:
            raise ProviderUnavailable(f"The memory service at {self._url} could not be reached: {exc}") from exc

    async def _ask(
        self, route: str, scope: Scope, body: Mapping[str, Any], credential: str | None, key: str | None
    ) -> tuple[int, bytes]:
        target = f"{self._url}{route}?project={quote(scope.project, safe='')}"
        headers = {"content-type": "application/json"}
        if credential:
            headers["authorization"] = f"Bearer {credential}"
        if key is not None:
            headers["idempotency-key"] = key
        async with self._session.post(
            target, data=in_turns(orjson.dumps(body)), headers=headers, allow_redirects=False
        ) as response:
            return response.status, await response.read()

    def _read(self, status: int, answer: Mapping[str, Any] | bytes) -> Mapping[str, Any]:
        if status >= 400:
            text = answer if isinstance(answer, bytes) else orjson.dumps(answer)
            shown = text[:_MOST_SHOWN].decode("utf-8", "replace")
            message = f"The memory service at {self._url} answered {status}: {shown}"
            if isinstance(answer, Mapping) and isinstance(answer.get("error"), str):
                message = answer["error"]  # of this very server
            raise _failure(status, text)(message, status=status)
        if not isinstance(answer, bytes):
            return answer
        try:
            read = orjson.loads(answer)
        except orjson.JSONDecodeError as exc:
            raise ProviderInvalidOutput(f"The memory service at {self._url} did not answer with JSON.") from exc
        if not isinstance(read, dict):
            raise ProviderInvalidOutput(f"The memory service at {self._url} did not answer with an object.")
        return read


def _message_body(role: str, text: str, uid: str | None) -> Mapping[str, Any]:
    told: dict[str, Any] = {"role": role, "content": text}
    if uid is not None:
        told["metadata"] = {"message_uid": uid}
    return told


def _failure(status: int, answer: bytes) -> type[ProviderError]:
    """The error class for an error response: temporary, permanent, or invalid output of the memory's model."""
    if b'"llm_invalid_output"' in answer:
        return ProviderInvalidOutput
    return ProviderUnavailable if status >= 500 or status in (401, 403, 408, 429) else ProviderRefused


def _list_in(answer: Mapping[str, Any], member: str) -> list[Any]:
    """The list of that name; [] for any other shape, since the turn is stored anyway."""
    found = answer.get(member)
    return found if isinstance(found, list) else []


def _counts(answer: Mapping[str, Any], member: str) -> Mapping[str, int]:
    """The numbers of that name; none for any other shape, since the turn is stored anyway."""
    found = answer.get(member)
    return {name: n for name, n in found.items() if isinstance(n, int)} if isinstance(found, dict) else {}


def _changes(answer: Mapping[str, Any], member: str) -> list[MemoryChange]:
    return [learned for result in _list_in(answer, member) if (learned := _memory_change(result))]


def _memory_change(result: object) -> MemoryChange | None:
    """The change that one entry of an answer reports; None for an unknown shape, since the turn is stored anyway."""
    if not isinstance(result, dict) or not isinstance(result.get("id"), str):
        return None
    return MemoryChange(memory_id=result["id"], event=str(result.get("event", "")))


def _line(hit: Mapping[str, Any], rank: int) -> RecalledLine:
    day = hit.get("created_at")
    memory_id = hit.get("id")
    origin = hit.get("origin")
    return RecalledLine(
        text=hit["memory"],
        day=day[:10] if isinstance(day, str) else "",
        id=memory_id if isinstance(memory_id, str) else "",
        origin=origin if isinstance(origin, str) else "",
        fits=hit.get("fits") is not False,
        rank=rank,
    )
