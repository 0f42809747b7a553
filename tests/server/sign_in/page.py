"""A person's browser at a server: it keeps the cookie, and its page sends origin and token with each request."""

from dataclasses import dataclass, field
from typing import Any

import orjson

from mnemoir.core.scope import Role
from mnemoir.core.users import Grant
from mnemoir.providers.http import AsgiAnswer
from tests.server.server_kit import JSON, Server

PASSWORD = "correct horse battery"
ORIGIN = "http://localhost"


@dataclass
class Page:
    """One browser. `origin` is that of the page, None for a program that sends none."""

    server: Server
    origin: str | None = ORIGIN
    cookie: str = ""
    csrf: str = ""
    user: JSON = field(default_factory=dict)
    recovery_codes: list[str] = field(default_factory=list)

    @property
    def sent(self) -> dict[str, str]:
        """What the page sends with each request."""
        return {"origin": self.origin or "", "cookie": self.cookie, "x_mnemoir_csrf": self.csrf}

    async def ask(self, method: str, target: str, body: object = None, **headers: str) -> AsgiAnswer:
        """One request of the page; a header of "" is left out."""
        own = self.sent | headers
        if method == "GET" and "origin" not in headers:
            own["origin"] = ""  # browsers send none to the same origin
        answer = await self.server.ask(method, target, body, **{name: value for name, value in own.items() if value})
        if "set-cookie" in answer.headers:
            self.cookie = answer.headers["set-cookie"].partition(";")[0]
        return answer

    async def enter(self, target: str, body: object) -> AsgiAnswer:
        """A request by which the person signs in."""
        answer = await self.ask("POST", target, body)
        if answer.status == 200:
            told = orjson.loads(answer.body)
            self.csrf, self.user = told["csrf"], told["user"]
            self.recovery_codes = told.get("recovery_codes", self.recovery_codes)
        return answer

    async def sign_in(self, name: str, password: str = PASSWORD) -> AsgiAnswer:
        """Sign in by name and password."""
        return await self.enter("/api/auth/password", {"name": name, "password": password})


def invited(server: Server, role: Role = "write", **granted: Any) -> str:
    """The token of a new invitation."""
    return server.parts.access.users.invite(Grant(role=role, **granted), by="test")[1]


async def joined(server: Server, name: str, role: Role = "write", *, origin: str = ORIGIN, **granted: Any) -> Page:
    """The browser of somebody who joined and is signed in."""
    page = Page(server, origin)
    body = {"token": invited(server, role, **granted), "name": name, "password": PASSWORD}
    answer = await page.enter("/api/auth/join", body)
    assert answer.status == 200, answer.body
    return page


def told(answer: AsgiAnswer) -> Any:
    """The JSON of an answer that is no error."""
    assert answer.status < 300, answer.body
    return orjson.loads(answer.body)
