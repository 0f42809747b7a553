"""Adds accepted with `async_mode`: written down as a job, done behind the answer, asked after by their id."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import orjson
from pydantic import TypeAdapter

from mnemoir.app.latencies import Latencies
from mnemoir.core.scope import Scope
from mnemoir.memory.background import Handler
from mnemoir.memory.facts import AddRequest, Facts
from mnemoir.ports.jobs import Job
from mnemoir.ports.memory_store import Receipt
from mnemoir.server.memories.answers import add_json

KIND = "add"

_request = TypeAdapter(AddRequest)


def payload_of(scope: Scope, request: AddRequest) -> Mapping[str, Any]:
    """The job's payload, as JSON; times become ISO texts."""
    payload: Mapping[str, Any] = orjson.loads(orjson.dumps({"scope": asdict(scope), "request": asdict(request)}))
    return payload


def add_later(facts: Facts, write: Latencies) -> Handler:
    """Works such jobs off, and notes in `write` how long each took.

    A result is what a waiting caller is answered. It quotes memories, so it says whose they are and of which session:
    they are forgotten with them.
    """

    async def run(job: Job) -> Mapping[str, Any]:
        scope, request = Scope(**job.payload["scope"]), _request.validate_python(job.payload["request"])
        if request.receipt is None:  # so that a job which a crash interrupted is done once all the same
            request = replace(request, receipt=Receipt(key=job.id, request_hash=job.id))
        with write.measured():
            result = await facts.add(scope, request)
        return {"scope": asdict(scope), "session": request.session, **add_json(result, include_usage=False)}

    return run
