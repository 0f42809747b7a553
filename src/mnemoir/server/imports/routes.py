"""`/api/imports`: what a person brought in from other programs.

Learning from an import begins only with the calls that its estimate named, so nobody starts a thousand calls unaware.
It goes on in jobs, and so does an undo; `GET` tells how far they came.
"""

from typing import Annotated

from fastapi import Depends, Header

from mnemoir.chats.imports import ImportStanding, Standing
from mnemoir.memory.facts.extract.requests import ModelCalls
from mnemoir.server.answer import Answer, JsonObject
from mnemoir.server.conversations.access import OwnerHere
from mnemoir.server.door.says import says
from mnemoir.server.imports.bodies import LearnBody
from mnemoir.server.rest import BodyOf, Routes, SiteHere
from mnemoir.storage.sql.imports import ImportKind

router = Routes(prefix="/api/imports", tags=["imports"])


class ImportRecord(JsonObject):
    """One import, and how it stands with it.

    `stored` is how many conversations or memories it stored. Of its `turns`, 0 until learning begins, `turns_done`
    were looked into: `learned` is how many memories they added or changed, `to_review` how many proposals wait since,
    `failed` how many could not be looked into. `waits_for` is why the next one is to be tried again.
    """

    id: str
    kind: ImportKind
    program: str
    created_at: str
    state: ImportStanding
    stored: int
    turns: int
    turns_done: int
    learned: int
    to_review: int
    failed: int
    waits_for: str | None


class ImportList(JsonObject):
    """The last hundred imports of a user, newest first. `most_bytes` is how large a file may be that is sent."""

    results: list[ImportRecord]
    most_bytes: int


class LearningEstimateAnswer(JsonObject):
    """What learning from what is left of an import takes. With the built-in rules it takes no call."""

    turns: int
    tokens: int
    model: str
    least_calls: int
    most_calls: int


@router.get("", summary="What a user brought in from other programs, newest first")
@says("read")
async def list_imports(site: SiteHere, scope: OwnerHere) -> Answer[ImportList]:
    found = await site.parts.chats.imports.newest(scope)
    most = site.options.max_body_bytes
    return Answer({"results": [_record_json(one) for one in found], "most_bytes": most})


@router.get("/{import_id}", summary="How it stands with an import")
@says("read")
async def show_import(site: SiteHere, scope: OwnerHere, import_id: str) -> Answer[ImportRecord]:
    return Answer(_record_json(await site.parts.chats.imports.state_of(scope, import_id)))


@router.get("/{import_id}/estimate", summary="How many calls of which model learning from it takes")
@says("read")
async def estimate(site: SiteHere, scope: OwnerHere, import_id: str) -> Answer[LearningEstimateAnswer]:
    found = await site.parts.chats.imports.estimate(scope, import_id)
    return Answer(
        {
            "turns": found.turns,
            "tokens": found.tokens,
            "model": found.calls.model,
            "least_calls": found.calls.least,
            "most_calls": found.calls.most,
        }
    )


@router.post("/{import_id}/learn", summary="Learn from what is left of it, in the background")
@says("admin", act="imports.learn", exact=True)
async def learn(
    site: SiteHere,
    scope: OwnerHere,
    import_id: str,
    body: Annotated[LearnBody, Depends(BodyOf(LearnBody))],
    x_timezone: Annotated[str | None, Header()] = None,
) -> Answer[ImportRecord]:
    imports = site.parts.chats.imports
    agreed = ModelCalls(model=body.model, least=body.least_calls, most=body.most_calls)
    zone = x_timezone or await site.zone_of_user(scope)
    await imports.learning.begin(scope, await imports.get(scope, import_id), agreed, zone)
    return Answer(_record_json(await imports.state_of(scope, import_id)))


@router.post("/{import_id}/stop", summary="Stop learning from it behind the turn at hand; what was learned stays")
@says("admin", act="imports.stop", exact=True)
async def stop(site: SiteHere, scope: OwnerHere, import_id: str) -> Answer[ImportRecord]:
    imports = site.parts.chats.imports
    await imports.learning.cancel(scope, await imports.get(scope, import_id))
    return Answer(_record_json(await imports.state_of(scope, import_id)))


@router.post("/{import_id}/undo", summary="Take back what was learned of it and what it stored, in the background")
@says("admin", act="imports.undo", exact=True)
async def undo(site: SiteHere, scope: OwnerHere, import_id: str) -> Answer[ImportRecord]:
    await site.parts.upkeep.holds.refuse(scope)
    imports = site.parts.chats.imports
    await imports.undo(scope, import_id)
    return Answer(_record_json(await imports.state_of(scope, import_id)))


def _record_json(standing: Standing) -> ImportRecord:
    one = standing.one
    return {
        "id": one.id,
        "kind": one.kind,
        "program": one.program,
        "created_at": one.created_at,
        "state": standing.state,
        "stored": one.stored,
        "turns": one.turns,
        "turns_done": one.done,
        "learned": one.learned,
        "to_review": one.to_review,
        "failed": one.failed,
        "waits_for": standing.waits_for,
    }
