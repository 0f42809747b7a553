"""The JSON of people who sign in, which several routes share."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, TypeVar

from fastapi import Request
from pydantic import Field

from mnemoir.core.clock import to_text
from mnemoir.core.scope import Role
from mnemoir.core.users import Grant, User
from mnemoir.server.answer import Answer, JsonObject
from mnemoir.server.body import Body
from mnemoir.server.door.request import header
from mnemoir.server.door.sessions import csrf_of
from mnemoir.server.site import Site

Shape = TypeVar("Shape")
Names = Annotated[list[str], Field(min_length=1, max_length=100)]
Token = Annotated[str, Field(max_length=256)]
Password = Annotated[str, Field(max_length=1024)]


class PasswordBody(Body):
    """A name and a password."""

    name: Token
    password: Password


class Person(JsonObject):
    """A user as they see themselves. `projects` and `configs` are null for all; `operator` is besides the role."""

    id: str
    name: str
    tenant: str
    role: Role
    operator: bool
    memory_user: str | None
    projects: list[str] | None
    configs: list[str] | None
    time_zone: str | None


class SignedInAnswer(JsonObject):
    """A sign-in, whose cookie comes with this answer. `csrf` goes into the header X-Mnemoir-CSRF."""

    user: Person
    csrf: str


def person_json(user: User) -> Person:
    """The record of a user for themselves."""
    return {
        "id": user.id,
        "name": user.name,
        "tenant": user.grant.tenant,
        "role": user.grant.role,
        "operator": is_operator(user.grant),
        "memory_user": user.grant.memory_user,
        "projects": names_json(user.grant.projects),
        "configs": names_json(user.grant.configs),
        "time_zone": user.time_zone,
    }


def names_json(names: Sequence[str] | None) -> list[str] | None:
    """A list of names; None for all."""
    return None if names is None else list(names)


def is_operator(grant: Grant) -> bool:
    """Whether it goes with the rights of an operator."""
    return grant.is_operator or grant.role == "operator"


def kept_out(body: Shape, status: int = 200) -> Answer[Shape]:
    """An answer that no cache keeps."""
    return Answer(body, status)


def begin_session(request: Request, site: Site, user: User, how: str) -> tuple[str, Sequence[str]]:
    """Begin a session. Returns its CSRF token and the cookies of the answer: of this device, and of the session.

    Blocks.
    """
    token = site.parts.access.sessions.begin(
        user, how=how, agent=header(request.scope, b"user-agent") or "", address=address_of(request, site)
    )
    cookies, devices = site.guard.cookies, site.parts.access.devices
    of_device = cookies.setting_device(request.scope, devices.name_of(user.id), devices.new_token(user.id))
    return csrf_of(token), (of_device, cookies.setting(request.scope, token))


def with_cookies(answer: Answer[Shape], cookies: Sequence[str]) -> Answer[Shape]:
    """The answer, which sets these cookies."""
    for cookie in cookies:
        answer.headers.append("set-cookie", cookie)
    return answer


def address_of(request: Request, site: Site) -> str:
    """The address of the client; "" for a caller in this process."""
    return str(site.guard.rate_limits.proxies.client_of(request.scope) or "")


def time_json(at: datetime | None) -> str | None:
    """A time as text; None for none."""
    return None if at is None else to_text(at)
