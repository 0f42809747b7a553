"""Adding and searching memories, for the routes and, without HTTP, for the server's own chats.

Chats use the same bodies, checks and answers: a chat has passed the guard already, and is logged and counted itself.
Nothing here needs FastAPI, which the first chat of a server would have to wait for.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

import orjson

from mnemoir.core.errors import InvalidRequest, MnemoirError
from mnemoir.core.scope import Scope as Owner
from mnemoir.core.usage import OF_MEMORY
from mnemoir.memory.facts import AddRequest, TokenLimits
from mnemoir.ports.jobs import ADD_LATER
from mnemoir.ports.memory_store import Project, Receipt
from mnemoir.server.body import idempotency_key, validated_body
from mnemoir.server.door.entry import log_fault
from mnemoir.server.door.errors import internal_error, status_of
from mnemoir.server.door.scopes import owner, project_in
from mnemoir.server.memories.answers import AddAnswer, SearchAnswer, add_json, plan_json, search_json
from mnemoir.server.memories.bodies import DEFAULT_SEARCHED, MOST_SEARCHED, AddBody, SearchBody
from mnemoir.server.memories.later import payload_of
from mnemoir.server.memories.narrowing import InvalidFilter, refuse_conditions
from mnemoir.server.site import Site


async def add_memories(
    site: Site,
    project: Project,
    body: AddBody,
    key: str | None,
    *,
    zone: str | None = None,
    include_usage: bool = False,
) -> AddAnswer:
    """The changes made by adding the messages; `key` is the idempotency key, `zone` the header's time zone."""
    answer = await _add(site, project, body, key, zone=zone, include_usage=include_usage)
    ignored = body.ignored_roles
    return {**answer, "ignored": ignored} if ignored else answer


async def _add(
    site: Site, project: Project, body: AddBody, key: str | None, *, zone: str | None, include_usage: bool
) -> AddAnswer:
    scope = owner(project, body.user_id, agent_id=body.agent_id, app_id=body.app_id, run_id=body.run_id)
    quotas = site.parts.chats.quotas
    site.parts.memory.facts.text_bound.check_request(body.request(None))
    if body.infer is not False:
        quotas.budget(scope)
    await quotas.check(scope, *OF_MEMORY)  # before a model is asked
    wants_usage = include_usage or body.include_usage is True
    request = body.request(None if body.dry_run else _receipt(key, body, scope), zone)
    request = replace(request, zone=request.zone or await site.zone_of_user(scope))
    if body.dry_run:
        return await _plan_addition(site, scope, body, request, include_usage=wants_usage)
    if body.async_mode:
        return await _add_later(site, scope, request)
    with site.parts.chats.times.write.record_duration():
        result = await site.parts.memory.facts.add(scope, request)
    site.count("add")
    site.count_tokens(result.usage)
    return add_json(result, include_usage=wants_usage)


async def _plan_addition(
    site: Site, scope: Owner, body: AddBody, request: AddRequest, *, include_usage: bool
) -> AddAnswer:
    """What adding the messages would do; nothing is stored, and no idempotency key used."""
    if body.async_mode:
        raise InvalidRequest(
            "dry_run answers at once; leave async_mode out.", code="validation_error", field="dry_run"
        )
    result, plan_id = await site.parts.memory.facts.rehearse(scope, request)
    site.count("plan")
    site.count_tokens(result.usage)
    answer = add_json(result, include_usage=include_usage)
    message = f"Nothing was stored; {len(result.applied)} changes are planned"
    return {**answer, "results": plan_json(result.applied), "message": message, "plan_id": plan_id}


async def search_memories(site: Site, project: Project, body: SearchBody, at: datetime | None = None) -> SearchAnswer:
    """The memories relevant to the question, now or at the time that the body or the query names."""
    part = body.narrowing()
    if body.at is not None and at not in (None, body.at):
        raise InvalidFilter("The body and the query name two times as `at`. Send one.", field="at")
    scope = owner(project, body.user_id, **part.ids)
    facts = site.parts.memory.facts
    among = body.list_filter(await facts.visible(scope, at=body.at or at), part.metadata)
    if among.visible.at is not None:
        refuse_conditions(among)
    hits = await facts.search(
        scope,
        body.text,
        limit=await _limit(site, project, body),
        threshold=body.threshold or 0.0,
        among=among,
        before=body.before or (),
        within=None if body.max_tokens is None else TokenLimits(body.max_tokens, body.max_fact_tokens),
    )
    site.count("search")
    return search_json(hits, explain=body.explain is True)


async def _limit(site: Site, project: Project, body: SearchBody) -> int:
    """The number of hits: with `max_tokens` the default counts only if somebody saved it as theirs."""
    if body.max_tokens is None or body.limit != DEFAULT_SEARCHED:
        return body.limit
    own = await site.parts.memory.project_settings.load(project)
    is_saved = own.search_limit is not None or "search_limit" in site.parts.settings.memory.model_fields_set
    return body.limit if is_saved else MOST_SEARCHED


async def _add_later(site: Site, scope: Owner, request: AddRequest) -> AddAnswer:
    """Store the add as a job; `GET /api/events/{id}` answers its state."""
    event_id = await site.parts.upkeep.background.put(ADD_LATER, payload_of(scope, request))
    message = "The messages are kept and will be processed"
    return {"results": [], "message": message, "status": "PENDING", "event_id": event_id}


def _receipt(key: str | None, body: AddBody, scope: Owner) -> Receipt | None:
    if (named := idempotency_key(key)) is None:
        return None
    narrowing = [scope.agent, scope.app, scope.conversation]
    asked = orjson.dumps([narrowing, body.model_dump(mode="json")], option=orjson.OPT_SORT_KEYS)
    return Receipt(key=named, request_hash=hashlib.blake2b(asked, digest_size=16).hexdigest())


class LocalMemoryRoutes:
    """In-process `POST` to `""` and `"/search"` below `/api/memories`."""

    def __init__(self, site: Site) -> None:
        self._site = site

    async def __call__(
        self, route: str, scope: Owner, body: Mapping[str, Any], key: str | None
    ) -> tuple[int, Mapping[str, Any]]:
        """The status and the JSON of the answer; `key` is the idempotency key. Raises nothing."""
        project = project_in(scope)
        try:
            if route == "/search":
                return 200, await search_memories(self._site, project, validated_body(SearchBody, body, "body"))
            return 200, await add_memories(self._site, project, validated_body(AddBody, body, "body"), key)
        except MnemoirError as exc:
            return _failure(exc)
        except Exception as exc:  # noqa: BLE001 - as on the routes: an error in memory never fails a chat
            log_fault(exc, route=f"/api/memories{route}")
            return _failure(internal_error())


def _failure(exc: MnemoirError) -> tuple[int, Mapping[str, Any]]:
    return status_of(exc), {"error": exc.message, "code": exc.code}
