"""`/api/status/jobs`: the background jobs that were given up, to look at and to try again."""

from dataclasses import dataclass

from fastapi import Request

from mnemoir.core.errors import NotFound
from mnemoir.core.ids import JobId
from mnemoir.ports.jobs import Job
from mnemoir.server.answer import Answer
from mnemoir.server.door.access import principal_of
from mnemoir.server.door.rest_routes import RouteAsSent
from mnemoir.server.door.says import says
from mnemoir.server.rest import Routes, SiteHere

router = Routes(prefix="/api/status/jobs", tags=["operations"], route_class=RouteAsSent)

_MOST = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedJob:
    """A job that was given up. `error`, which may quote a user, is null for callers who see no contents."""

    id: str
    kind: str
    attempts: int
    created_at: str
    failed_at: str
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedJobs:
    """The newest that were given up within the last week, newest first."""

    results: list[FailedJob]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetriedJob:
    """The job waits for a worker, or for its turn."""

    id: str


@router.get("", summary="The background jobs that were given up in the last week")
@says("server")
async def failed_jobs(request: Request, site: SiteHere) -> Answer[FailedJobs]:
    sees_contents = principal_of(request.scope).may("admin")
    found = await site.parts.upkeep.jobs.failed_jobs(limit=_MOST)
    return Answer(FailedJobs(results=[_job_json(job, with_error=sees_contents) for job in found]))


@router.post("/{job_id}/retry", summary="Try a background job again that was given up", status_code=202)
@says("server")
async def retry(site: SiteHere, job_id: str) -> Answer[RetriedJob]:
    if not await site.parts.upkeep.background.revive(JobId(job_id)):
        raise NotFound(f"There is no job {job_id[:80]!r} that was given up.", code="job_not_found")
    return Answer(RetriedJob(id=job_id), 202)


def _job_json(job: Job, *, with_error: bool) -> FailedJob:
    return FailedJob(
        id=job.id,
        kind=job.kind,
        attempts=job.attempts,
        created_at=job.created_at,
        failed_at=job.updated_at,
        error=job.error if with_error else None,
    )
