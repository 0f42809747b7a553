"""Routes of the REST application: what they say is completed by their signatures, which FastAPI reads.

Nothing that a server at rest needs imports this module, for FastAPI comes with it.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import get_args, get_origin

from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from mnemoir.server.door.says import PROJECTS, DeclaredRoute, Projects, Says


class RestRoute(DeclaredRoute, APIRoute):
    """A route of the REST application."""

    def complete(self, said: Says) -> Says:
        """What its endpoint said, with the query parameters and the members of the body of its signature."""
        return replace(_with_query(said, self.dependant), members=tuple(_members_of(self.dependant)))


class RouteAsSent(RestRoute):
    """A route that matches the path as it was sent, and decodes the names in it."""

    is_as_sent = True


def _with_query(said: Says, dependant: Dependant) -> Says:
    """What a route says, with the query parameters of its signature where it names none."""
    if said.query is not None:
        return said
    known = dict(_query_of(dependant))
    return replace(
        said,
        query=tuple(known),
        lists=said.lists or tuple(name for name, is_list in known.items() if is_list),
        projects=next(_projects_of(dependant), said.projects),
    )


def _query_of(dependant: Dependant) -> Iterator[tuple[str, bool]]:
    """Each query parameter that an endpoint and its dependencies read, and whether it is a list of values."""
    for parameter in dependant.query_params:
        yield parameter.alias, _is_list(parameter.field_info.annotation)
    if hasattr(dependant.call, PROJECTS):
        yield "project", False
    for dependency in dependant.dependencies:
        yield from _query_of(dependency)


def _members_of(dependant: Dependant) -> Iterator[str]:
    """Each member of a body that an endpoint's dependencies read."""
    yield from getattr(dependant.call, "members", ())
    for dependency in dependant.dependencies:
        yield from _members_of(dependency)


def _projects_of(dependant: Dependant) -> Iterator[Projects]:
    """The marks of an endpoint's dependencies by `takes_project`, each before those of what it depends on."""
    if hasattr(dependant.call, PROJECTS):
        yield getattr(dependant.call, PROJECTS)
    for dependency in dependant.dependencies:
        yield from _projects_of(dependency)


def _is_list(annotation: object) -> bool:
    return get_origin(annotation) is list or any(map(_is_list, get_args(annotation)))
