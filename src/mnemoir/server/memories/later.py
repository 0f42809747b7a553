"""Adds with `async_mode`: stored as a job, run after the answer, and looked up by the job's id."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import orjson
from pydantic import TypeAdapter

from mnemoir.chats.quotas import Quotas, limited_as
from mnemoir.core.scope import Scope, acting
from mnemoir.memory.background import Handler
from mnemoir.memory.facts import AddRequest, Facts
from mnemoir.models.latencies import Latencies
from mnemoir.ports.jobs import Job
from mnemoir.ports.memory_store import Receipt
from mnemoir.server.memories.answers import add_json

_request = TypeAdapter(AddRequest)


def payload_of(scope: Scope, request: AddRequest) -> Mapping[str, Any]:
    """The job's payload, as JSON, with the quotas of the caller's key; times become ISO texts."""
    told = {"scope": asdict(scope), "request": asdict(request), "limits": dict(acting.get().principal.limits)}
    payload: Mapping[str, Any] = orjson.loads(orjson.dumps(told))
    return payload


def add_later(facts: Facts, write: Latencies, quotas: Quotas) -> Handler:
    """The handler of such jobs; it records in `write` how long each took.

    A quota that was used up since the job was stored puts the job back.

    A result holds the answer for a waiting caller. It quotes memories, so it includes their scope and session, and is
    deleted with them when they are forgotten.
    """

    async def run(job: Job) -> Mapping[str, Any]:
        scope, request = Scope(**job.payload["scope"]), _request.validate_python(job.payload["request"])
        if request.receipt is None:  # so that a job interrupted by a crash still takes effect once
            request = replace(request, receipt=Receipt(key=job.id, request_hash=job.id))
        with limited_as(scope, job.payload["limits"]), write.record_duration():
            if request.infer:
                quotas.budget(scope)
            result = await facts.add(scope, request)
        return {"scope": asdict(scope), "session": request.session, **add_json(result, include_usage=False)}

    return run
