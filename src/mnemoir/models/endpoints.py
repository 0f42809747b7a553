"""Health of the endpoints of the config tree that the workflows of served users call.

The result of a workflow's call outweighs a check, since it was a complete request. A check is made where there was no
recent call; one that is newer than the last call detects a server that went down.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

import aiohttp
from yarl import URL

from mnemoir.core.cached import Cached
from mnemoir.core.clock import to_text, utc_now
from mnemoir.models.reaching import EndpointLooks, Health, Look, Reached, Server
from mnemoir.ports.llm import LastCalls, ModelServer, ModelServerKind
from mnemoir.providers.llm.model_servers import HttpModelServers
from mnemoir.storage.user_pool import in_thread
from mnemoir.trees.served import Served, UntilChanged
from mnemoir.wire.upstream import is_quota
from mnemoir.workflows.checking.asked import AskedEndpoint, asked_endpoints
from mnemoir.workflows.config.shown import without_secrets
from mnemoir.workflows.config.tree import ConfigTree
from mnemoir.workflows.node import node_types

_READ_AGAIN_S = 10.0
_CALLED_OF_LATE = timedelta(minutes=1)
_NEXT = {
    "llm_unavailable": "Start its server, or correct endpoint in {path}.",
    "llm_timeout": "See whether its server is busy, or give it more time: workflows.timeouts in the settings.",
    "llm_auth_failed": "Correct apiKey in {path}.",
    "llm_rate_limited": "Wait, or set maxConcurrentRequests in {path}.",
    "llm_invalid_output": "See whether endpoint and apiTypeConfigFileName in {path} fit its server.",
}
_WORST_FIRST: Mapping[Health | None, int] = {"fail": 0, "warn": 1, None: 2, "ok": 3}


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointHealth:
    """One endpoint. `path` is its file in the tree, None when that is missing; `kind` is the protocol.

    `address` is scheme, host and port, without secrets. `state` is None before the first result;
    `problem` and `to_do` are "" when all is well. `told_at` is the time of the call or check that gave the state.
    """

    name: str
    path: str | None
    named_in: Sequence[str]
    kind: ModelServerKind | None
    address: str | None
    model: str
    state: Health | None
    problem: str
    to_do: str
    told_at: str | None
    answered_at: str | None
    failed_at: str | None


_Key = tuple[str, Server]


class Endpoints:
    """Checks the endpoints of one server; none without a config tree."""

    def __init__(
        self, served: Served | None, model_servers: HttpModelServers, session: aiohttp.ClientSession
    ) -> None:
        self._served = served
        self._model_servers = model_servers
        self._looks = EndpointLooks(session)
        self._asked = Cached(self._read, for_s=_READ_AGAIN_S)
        self._called: tuple[str, ...] = ()
        self._in_files = None if served is None else UntilChanged(served.tree.root, self._read_files)

    async def health(self, *, patience_s: float, fresh: bool = False) -> list[EndpointHealth]:
        """All endpoints, those with problems first; results that take over `patience_s` appear in a later call."""
        if self._served is None:
            return []
        asked = await self._asked.get(patience_s=patience_s, fresh=fresh) or ()
        calls = _by_endpoint(self._model_servers.calls())
        found = await asyncio.gather(*(self._health(one, calls, patience_s, fresh=fresh) for one in asked))
        return sorted(found, key=lambda one: _WORST_FIRST[one.state])

    async def aclose(self) -> None:
        """Cancel checks under way."""
        await self._asked.aclose()
        await self._looks.aclose()

    async def _read(self) -> Sequence[AskedEndpoint]:
        assert self._in_files is not None
        self._called = tuple(sorted({model_server.name for model_server in self._model_servers.calls()}))
        return await in_thread(self._in_files.get, self._called)

    def _read_files(self, tree: ConfigTree) -> Sequence[AskedEndpoint]:
        assert self._served is not None
        return asked_endpoints(tree, self._served.users, node_types(), self._called)

    async def _health(
        self, asked: AskedEndpoint, all_calls: Mapping[_Key, LastCalls], patience_s: float, *, fresh: bool
    ) -> EndpointHealth:
        server = _server(asked)
        if asked.definition is None or server is None:
            broken = Reached(state="fail", found=asked.problem, to_do=asked.fix)
            return _health_of(asked, LastCalls(), broken, None)
        calls = all_calls.get(_key(asked.name, server), LastCalls())
        look = None
        if fresh or _last_call(calls) < to_text(utc_now() - _CALLED_OF_LATE):
            look = await self._looks.at(server, patience_s=patience_s, fresh=fresh)
        return _health_of(asked, calls, *verdict(asked, calls, look))


def verdict(asked: AskedEndpoint, calls: LastCalls, look: Look | None) -> tuple[Reached | None, str | None]:
    """The state after the last call and check, and its time; None for both when there was neither."""
    called_at, failed_at = _last_call(calls), calls.failed_at or ""
    seen = None if look is None else _state_after_check(asked, look)
    if look is not None and seen is not None and seen.state != "ok" and look.at > called_at:
        return seen, look.at
    if failed_at and failed_at > (calls.answered_at or ""):
        return _state_after_failure(asked, calls, answers_now=look is not None and look.at > failed_at), failed_at
    if called_at and (look is None or look.at <= called_at):
        return Reached(), called_at
    return seen, look.at if look else None


def _last_call(calls: LastCalls) -> str:
    return max(calls.answered_at or "", calls.failed_at or "")


def _state_after_failure(asked: AskedEndpoint, calls: LastCalls, *, answers_now: bool) -> Reached:
    """The state after a failed call. A refusal may concern one request only: a warning; a wrong key fails all."""
    found, code = f"Its last call failed: {calls.error}", calls.code or ""
    if code == "llm_unavailable" and answers_now:
        return Reached(state="warn", found=found, to_do="Its server answers now; the next call tells the rest.")
    state: Health = "fail" if code in ("llm_unavailable", "llm_auth_failed") else "warn"
    to_do = _NEXT.get(code, "See the run for what was asked.")
    if code == "llm_rate_limited" and is_quota(calls.names):
        state, to_do = "fail", "Add credit to the account there, or name another endpoint; waiting does not help."
    return Reached(state=state, found=found, to_do=to_do.replace("{path}", asked.path or "its file"))


def _state_after_check(asked: AskedEndpoint, look: Look) -> Reached:
    """The state of this endpoint after a check."""
    path, definition, status = asked.path, asked.definition, look.status
    assert definition is not None
    address = f"Start its server, or correct endpoint in {path}."
    if status is None:
        return Reached(state="fail", found=look.problem, to_do=address)
    if status in (401, 403):
        found = "Its server refuses the key." if definition.api_key else "Its server wants a key, and there is none."
        return Reached(state="fail", found=found, to_do=f"Correct apiKey in {path}.")
    if 300 <= status < 400:
        found = f"Its server answers with a redirect ({status}), which is not followed."
        return Reached(state="warn", found=found, to_do=f"Write the address it leads to into {path}.")
    if status >= 500:
        return Reached(state="warn", found=f"Its server answers {status}.", to_do="See its log, or try again later.")
    if asked.kind in ("openai-chat", "openai-completions"):
        return Reached()  # not all of these list their models
    if status != 200 or (asked.kind != "koboldcpp" and look.models is None):
        fits = f"See whether endpoint and apiTypeConfigFileName in {path} fit its server."
        return Reached(state="warn", found="Its server does not answer as this protocol does.", to_do=fits)
    model = definition.model
    if model and look.models is not None and not {model, f"{model}:latest"} & look.models:
        pull = f"Run there: ollama pull {model}. Or correct modelNameToSendToAPI in {path}."
        return Reached(state="fail", found=f"Its server has no model {model}.", to_do=pull)
    return Reached()


def _health_of(
    asked: AskedEndpoint, calls: LastCalls, reached: Reached | None, told_at: str | None
) -> EndpointHealth:
    definition = asked.definition
    return EndpointHealth(
        name=_safe(asked.name),
        path=None if asked.path is None else _safe(asked.path),
        named_in=[_safe(file) for file in asked.named_in],
        kind=asked.kind,
        address=None if definition is None else _address(definition.url),
        model="" if definition is None else _safe(definition.model),
        state=None if reached is None else reached.state,
        problem="" if reached is None else _safe(reached.found),
        to_do="" if reached is None else _safe(reached.to_do),
        told_at=told_at,
        answered_at=calls.answered_at,
        failed_at=calls.failed_at,
    )


def _address(url: str) -> str | None:
    """Scheme, host and port; the path is left out because it may hold a secret."""
    try:
        return str(URL(url).origin())
    except ValueError:
        return None


def _safe(text: str) -> str:
    """`text` without secrets and lone surrogates (from names that are not UTF-8), which JSON cannot hold."""
    return without_secrets(text.encode("utf-8", "replace").decode())


def _server(asked: AskedEndpoint) -> Server | None:
    if asked.definition is None or asked.kind is None:
        return None
    return Server(kind=asked.kind, url=asked.definition.base_url(asked.kind), key=asked.definition.api_key)


def _key(name: str, server: Server) -> _Key:
    """The key of an endpoint: its name too, since one server may serve several endpoints."""
    return name.rpartition("/")[2].lower().removesuffix(".json"), server


def _by_endpoint(calls: Mapping[ModelServer, LastCalls]) -> Mapping[_Key, LastCalls]:
    """The last calls by endpoint; one endpoint may have been called with several settings, such as timeouts."""
    found: dict[_Key, LastCalls] = {}
    for model_server, last in calls.items():
        server = Server(kind=model_server.kind, url=model_server.base_url, key=model_server.api_key)
        key = _key(model_server.name, server)
        found[key] = _later(found[key], last) if key in found else last
    return found


def _later(one: LastCalls, other: LastCalls) -> LastCalls:
    failed = max(one, other, key=lambda calls: calls.failed_at or "")
    answered_at = max(one.answered_at or "", other.answered_at or "") or None
    return LastCalls(answered_at=answered_at, failed_at=failed.failed_at, error=failed.error, code=failed.code)
