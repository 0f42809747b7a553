"""The person that a request is about: a user of the caller's tenant, in the projects that its key is for."""

from dataclasses import replace
from typing import Annotated

from fastapi import Depends, Path, Query, Request

from mnemoir.core.scope import Principal, acting
from mnemoir.server.door.access import principal_of
from mnemoir.server.door.says import takes_project
from mnemoir.server.door.scopes import named_project, person_of, project_of
from mnemoir.server.rest import SiteHere
from mnemoir.upkeep.subjects import Person

Name = Annotated[str, Path(description="the user; slashes too, when they are encoded")]
Tenant = Annotated[str | None, Query(description="whose user, for the admin key of the settings")]


def is_for_everybody(caller: Principal) -> bool:
    """Whether these routes let a caller decide about all users, in all projects, of its tenant.

    A key that is bound to none does, and so does an admin who signed in, whose requests are else about their own.
    """
    is_person = bool(caller.person) and caller.may("admin") and caller.configs is None
    return caller.projects is None and (caller.user is None or is_person)


@takes_project("named")
async def _person(request: Request, site: SiteHere, user_id: Name, tenant: Tenant = None) -> Person:
    person = await _person_everywhere(request, user_id, tenant)
    if named_project(request.scope) is None:
        return person
    return replace(person, projects=(project_of(request.scope, site.options).project,))


PersonHere = Annotated[Person, Depends(_person)]


async def _person_everywhere(request: Request, user_id: Name, tenant: Tenant = None) -> Person:
    caller = principal_of(request.scope)
    if is_for_everybody(caller):
        acting.set(replace(acting.get(), principal=replace(caller, user=None)))
    whole = person_of(request.scope, user_id, tenant)
    return Person(tenant=whole.tenant, user=whole.user, projects=caller.projects)


PersonEverywhere = Annotated[Person, Depends(_person_everywhere)]
