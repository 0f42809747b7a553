"""The person that a request is about: a user of the caller's tenant, in the projects that its key is for."""

from typing import Annotated

from fastapi import Depends, Path, Query, Request

from mnemoir.app.subjects import Person
from mnemoir.core.errors import NotFound
from mnemoir.core.scope import Principal
from mnemoir.ports.memory_store import Project
from mnemoir.server.access import owner, principal_of, project_of
from mnemoir.server.rest import SiteHere

Name = Annotated[str, Path(description="the user; slashes too, when they are encoded")]
Tenant = Annotated[str | None, Query(description="whose user, for a caller who is admin and operator")]


async def _person(
    request: Request, site: SiteHere, user_id: Name, project: str | None = None, tenant: Tenant = None
) -> Person:
    caller = principal_of(request.scope)
    own = tenant_of(caller, tenant)
    projects = caller.projects
    if project is not None:
        projects = (project_of(request.scope, site.options).project,)
    named = owner(Project(tenant=own, project=""), user_id)
    return Person(tenant=own, user=named.user, projects=projects)


PersonHere = Annotated[Person, Depends(_person)]


def tenant_of(caller: Principal, named: str | None) -> str:
    """The tenant of a request: the caller's, or another one for who is admin and operator. Raises NotFound."""
    if named is None or named == caller.tenant:
        return caller.tenant
    if caller.may("admin") and caller.may("operator"):
        return named
    raise NotFound(f"There is no tenant {named[:80]!r} here.")
