"""The person that a request is about: a user of the caller's tenant, in the projects that its key is for."""

from typing import Annotated

from fastapi import Depends, Path, Query, Request

from mnemoir.app.subjects import Person
from mnemoir.server.access import person_of, principal_of, project_of
from mnemoir.server.rest import SiteHere

Name = Annotated[str, Path(description="the user; slashes too, when they are encoded")]
Tenant = Annotated[str | None, Query(description="whose user, for a caller who is admin and operator")]


async def _person(
    request: Request, site: SiteHere, user_id: Name, project: str | None = None, tenant: Tenant = None
) -> Person:
    whole = person_of(request.scope, user_id, tenant)
    projects = principal_of(request.scope).projects
    if project is not None:
        projects = (project_of(request.scope, site.options).project,)
    return Person(tenant=whole.tenant, user=whole.user, projects=projects)


PersonHere = Annotated[Person, Depends(_person)]
