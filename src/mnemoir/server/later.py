"""Adds that were accepted with `async_mode`: the same add, done behind the answer."""

from collections.abc import Mapping
from typing import Any

from mnemoir.core.scope import Scope
from mnemoir.memory.background import Handler
from mnemoir.memory.facts import Facts
from mnemoir.ports.jobs import Job
from mnemoir.ports.memory_store import Receipt
from mnemoir.server.memory_answers import add_json
from mnemoir.server.memory_models import AddBody

_NARROWING = ("tenant", "project", "user", "agent", "app", "conversation")


def add_later(facts: Facts) -> Handler:
    """What works off jobs of kind `add`; the result is what a waiting caller would have been answered."""

    async def run(job: Job) -> Mapping[str, Any]:
        scope = Scope(**{name: job.payload[name] for name in _NARROWING})
        body = AddBody.model_validate(job.payload["body"])
        result = await facts.add(scope, body.request(_receipt(job)))
        return add_json(result, include_usage=body.include_usage is True)

    return run


def _receipt(job: Job) -> Receipt:
    """The caller's own, else one of the job: so a job that a crash interrupted is done once all the same."""
    given = job.payload.get("receipt")
    return Receipt(**given) if given else Receipt(key=job.id, request_hash=job.id)
