"""A project's own settings and extraction prompt, and the state of deferred adds."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from typing import Annotated, Literal, NotRequired

from fastapi import Depends, Request

from mnemoir.core.clock import from_epoch, to_text
from mnemoir.core.errors import Forbidden, NotFound
from mnemoir.core.ids import JobId
from mnemoir.core.retention import Retention
from mnemoir.memory.facts import default_extraction_prompt
from mnemoir.ports.jobs import ADD_LATER, Job
from mnemoir.ports.memory_store import OwnerSummary, Project
from mnemoir.ports.project_settings import PiiAction, Reviewed
from mnemoir.server.answer import Answer, JsonObject
from mnemoir.server.door.access import principal_of
from mnemoir.server.door.says import says
from mnemoir.server.door.scopes import bound_user
from mnemoir.server.memories.answers import AppliedChange, Proposed, Success
from mnemoir.server.memories.bodies import PromptBody, SettingsBody
from mnemoir.server.rest import BodyOf, ProjectHere, Routes, SiteHere

router = Routes(tags=["project"])

_PROMPT = "/api/memories/extraction-prompt"
_SETTINGS = "/api/memories/settings"


class UserOfProject(JsonObject):
    """A user who has memories."""

    user_id: str
    memories: int
    changed_at: str | None


class ProjectWithUsers(JsonObject):
    """A project and its users, by name."""

    project: str
    memories: int
    changed_at: str | None
    users: list[UserOfProject]


class Projects(JsonObject):
    """All projects, by name."""

    results: list[ProjectWithUsers]


class PromptAnswer(JsonObject):
    """The extraction prompt in effect."""

    prompt: str
    isCustom: bool


class DefaultPrompt(JsonObject):
    """The default prompt, which is in effect again."""

    prompt: str


class RetentionAnswer(JsonObject):
    """The days that a project says itself, and those of its tenant or the server, which hold for what it does not."""

    own: dict[str, int]
    otherwise: dict[str, int]


class ProjectSettingsAnswer(JsonObject):
    """A project's settings; the server's values where it has none of its own. Days of 0 keep for ever.

    `timeZone` null is the zone of the server's clock.
    """

    memoryEnabled: bool
    decayDays: float
    searchLimit: int
    review: Reviewed
    piiFacts: PiiAction
    piiMessages: PiiAction
    piiModels: PiiAction
    memoriesDays: int
    historyDays: int
    deletedDays: int
    timeZone: str | None
    retention: RetentionAnswer


class JobEvent(JsonObject):
    """The state and outcome of an add with `async_mode`."""

    id: str
    event_type: Literal["ADD"]
    status: Literal["PENDING", "RUNNING", "SUCCEEDED", "FAILED"]
    results: list[AppliedChange]
    proposed: NotRequired[list[Proposed]]
    created_at: str
    updated_at: str
    error: str | None


async def _for_all_users(request: Request) -> None:
    """Raise Forbidden for a key of one user: by settings of a project, memories of all its users are deleted."""
    caller = principal_of(request.scope)
    if caller.user is not None and not caller.person:
        raise Forbidden("Settings hold for all users of a project, and this key is for one. Use a key for all.")


_FOR_ALL_USERS = [Depends(_for_all_users)]


@router.get("/api/projects", summary="Projects with their users, for choosing among them")
@says("read")
async def projects(request: Request, site: SiteHere) -> Answer[Projects]:
    principal = principal_of(request.scope)
    owned = [
        one
        for one in await site.parts.memory.store.owners(principal.tenant)
        if principal.reaches(one.project, one.user)
    ]
    return Answer(
        {"results": [_with_users(name, list(users)) for name, users in groupby(owned, key=attrgetter("project"))]}
    )


@router.get(_PROMPT, summary="What extraction keeps, in this project")
@says("read")
async def prompt(site: SiteHere, project: ProjectHere) -> Answer[PromptAnswer]:
    own = (await site.parts.memory.project_settings.load(project)).extraction_prompt
    return Answer({"prompt": own or default_extraction_prompt(), "isCustom": own is not None})


@router.put(_PROMPT, summary="Say what extraction keeps", dependencies=_FOR_ALL_USERS)
@says("admin", act="settings.change")
async def set_prompt(
    site: SiteHere, project: ProjectHere, body: Annotated[PromptBody, Depends(BodyOf(PromptBody))]
) -> Answer[Success]:
    await site.parts.memory.project_settings.change(project, lambda own: replace(own, extraction_prompt=body.prompt))
    return Answer({"success": True})


@router.delete(_PROMPT, summary="Go back to the default prompt", dependencies=_FOR_ALL_USERS)
@says("admin", act="settings.change", slash=True)
async def reset_prompt(site: SiteHere, project: ProjectHere) -> Answer[DefaultPrompt]:
    own = await site.parts.memory.project_settings.load(project)
    if own.extraction_prompt is not None:
        await site.parts.memory.project_settings.change(project, lambda own: replace(own, extraction_prompt=None))
    return Answer({"prompt": default_extraction_prompt()})


@router.get(_SETTINGS, summary="A project's settings, the server's where it has none")
@says("read")
async def settings(site: SiteHere, project: ProjectHere) -> Answer[ProjectSettingsAnswer]:
    own, options = await site.parts.memory.project_settings.load(project), site.options
    policy = await site.parts.memory.personal_data.policy(project)
    own_days, otherwise = await site.parts.upkeep.retention.own_and_default(project)
    kept = {**otherwise, **own_days}
    decay_days = options.decay_days if own.decay_days is None else own.decay_days
    return Answer(
        {
            "memoryEnabled": own.memory_enabled is not False,
            "decayDays": decay_days or 0,
            "searchLimit": options.search_limit if own.search_limit is None else own.search_limit,
            "review": own.review or options.review,
            "piiFacts": policy.facts,
            "piiMessages": policy.messages,
            "piiModels": policy.models,
            "memoriesDays": kept["memories_days"],
            "historyDays": kept["history_days"],
            "deletedDays": kept["deleted_days"],
            "timeZone": own.time_zone or site.parts.settings.memory.time_zone,
            "retention": {"own": _days(own_days), "otherwise": _days(otherwise)},
        }
    )


@router.put(_SETTINGS, summary="Change a project's settings", dependencies=_FOR_ALL_USERS)
@says("admin", act="settings.change")
async def change_settings(
    site: SiteHere, project: ProjectHere, body: Annotated[SettingsBody, Depends(BodyOf(SettingsBody))]
) -> Answer[Success]:
    names = {
        "memoryEnabled": "memory_enabled",
        "decayDays": "decay_days",
        "searchLimit": "search_limit",
        "piiFacts": "pii_facts",
        "piiMessages": "pii_messages",
        "piiModels": "pii_models",
        "memoriesDays": "memories_days",
        "historyDays": "history_days",
        "deletedDays": "deleted_days",
        "timeZone": "time_zone",
    }
    changed = {names.get(field, field): value for field, value in body.model_dump(exclude_unset=True).items()}
    await site.parts.memory.project_settings.change(project, lambda own: replace(own, **changed))
    return Answer({"success": True})


@router.get("/api/events/{event_id:path}", summary="How an add with async_mode went")
@says("read")
async def event(site: SiteHere, project: ProjectHere, event_id: str) -> Answer[JobEvent]:
    job = await site.parts.upkeep.jobs.get(JobId(event_id))
    if job is None or job.kind != ADD_LATER or not _belongs(job, project):
        raise NotFound(f"There is no event {event_id[:128]!r} here.", code="event_not_found")
    told: JobEvent = {
        "id": job.id,
        "event_type": "ADD",
        "status": job.state,
        "results": list((job.result or {}).get("results", ())),
        "created_at": job.created_at,
        "updated_at": job.updated_at,
        "error": job.error,
    }
    if proposed := (job.result or {}).get("proposed"):
        told["proposed"] = list(proposed)
    return Answer(told)


def _days(said: Retention) -> dict[str, int]:
    """By the names of a project's settings."""
    return {f"{name.removesuffix('_days')}Days": days for name, days in said.items()}


def _with_users(name: str, users: Sequence[OwnerSummary]) -> ProjectWithUsers:
    changed = [user.changed_at for user in users if user.changed_at is not None]
    return {
        "project": name,
        "memories": sum(user.memories for user in users),
        "changed_at": _time(max(changed, default=None)),
        "users": [
            {"user_id": user.user, "memories": user.memories, "changed_at": _time(user.changed_at)} for user in users
        ],
    }


def _time(seconds: float | None) -> str | None:
    instant = None if seconds is None else from_epoch(seconds)
    return None if instant is None else to_text(instant)


def _belongs(job: Job, project: Project) -> bool:
    """True for a job of this project. A finished job keeps only its result, with the scope."""
    known = (job.payload or job.result or {}).get("scope", {})
    is_here = (known.get("tenant"), known.get("project")) == (project.tenant, project.project)
    return is_here and bound_user() in (None, known.get("user"))
