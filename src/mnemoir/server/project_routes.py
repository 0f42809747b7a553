"""A project's own settings and extraction prompt, and the state of work put off."""

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.responses import Response

from mnemoir.core.errors import NotFound
from mnemoir.core.ids import JobId
from mnemoir.memory.facts import default_extraction_prompt
from mnemoir.ports.jobs import Job
from mnemoir.ports.memory_store import Project
from mnemoir.server.later import KIND
from mnemoir.server.memory_answers import answer
from mnemoir.server.memory_models import PromptBody, SettingsBody
from mnemoir.server.rest import ProjectHere, SiteHere, accepts, body_of

router = APIRouter(tags=["project"])

_PROMPT = "/api/memories/extraction-prompt"
_SETTINGS = "/api/memories/settings"


@router.get(_PROMPT, summary="What extraction keeps, in this project")
async def prompt(site: SiteHere, project: ProjectHere) -> Response:
    own = (await site.parts.project_settings.load(project)).extraction_prompt
    return answer({"prompt": own or default_extraction_prompt(), "isCustom": own is not None})


@router.put(_PROMPT, summary="Say what extraction keeps", openapi_extra=accepts(PromptBody))
async def set_prompt(
    site: SiteHere, project: ProjectHere, body: Annotated[PromptBody, Depends(body_of(PromptBody))]
) -> Response:
    async with site.settings_change:
        own = await site.parts.project_settings.load(project)
        await site.parts.project_settings.save(project, replace(own, extraction_prompt=body.prompt))
    return answer({"success": True})


@router.delete(_PROMPT, summary="Go back to the default prompt")
async def reset_prompt(site: SiteHere, project: ProjectHere) -> Response:
    async with site.settings_change:
        own = await site.parts.project_settings.load(project)
        if own.extraction_prompt is not None:
            await site.parts.project_settings.save(project, replace(own, extraction_prompt=None))
    return answer({"prompt": default_extraction_prompt()})


@router.get(_SETTINGS, summary="A project's settings, the server's where it has none")
async def settings(site: SiteHere, project: ProjectHere) -> Response:
    own, options = await site.parts.project_settings.load(project), site.options
    decay_days = options.decay_days if own.decay_days is None else own.decay_days
    return answer(
        {
            "memoryEnabled": own.memory_enabled is not False,
            "decayDays": decay_days or 0,
            "searchLimit": options.search_limit if own.search_limit is None else own.search_limit,
        }
    )


@router.put(_SETTINGS, summary="Change a project's settings", openapi_extra=accepts(SettingsBody))
async def change_settings(
    site: SiteHere, project: ProjectHere, body: Annotated[SettingsBody, Depends(body_of(SettingsBody))]
) -> Response:
    names = {"memoryEnabled": "memory_enabled", "decayDays": "decay_days", "searchLimit": "search_limit"}
    changed = {names[field]: value for field, value in body.model_dump(exclude_unset=True).items()}
    async with site.settings_change:
        own = await site.parts.project_settings.load(project)
        await site.parts.project_settings.save(project, replace(own, **changed))
    return answer({"success": True})


@router.get("/api/events/{event_id:path}", summary="How an add with async_mode went")
async def event(site: SiteHere, project: ProjectHere, event_id: str) -> Response:
    job = await site.parts.jobs.get(JobId(event_id))
    if job is None or job.kind != KIND or not _belongs(job, project):
        raise NotFound(f"There is no event {event_id[:128]!r} here.", code="event_not_found")
    return answer(
        {
            "id": job.id,
            "event_type": "ADD",
            "status": job.state,
            "results": list((job.result or {}).get("results", ())),
            "created_at": job.created_at,
            "updated_at": job.updated_at,
            "error": job.error,
        }
    )


def _belongs(job: Job, project: Project) -> bool:
    """A finished job has only its result left, which then names the project."""
    known = job.payload.get("scope") or job.result or {}
    return (known.get("tenant"), known.get("project")) == (project.tenant, project.project)
