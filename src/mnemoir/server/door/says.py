"""What a route says of itself, in one value: the right it takes, what it counts as, its act in the audit log.

Each endpoint has the value by the decorator `says`, below that of its route. All that stands in front of a route goes
by the value of the route that was found (`table.py`), and nothing else tells from a path what a request may do.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypedDict, TypeVar, Unpack

from starlette.routing import Route

from mnemoir.core.errors import Forbidden, MnemoirError
from mnemoir.core.scope import Principal

# `open` and `signing_in` need no credential, and the second knows who signed in; `any` is the right of every valid
# key; `manage` that of admins and operators, who then decide about different things; `server` that to see what is
# counted over the whole server
Right = Literal["open", "signing_in", "any", "read", "write", "admin", "manage", "server"]
Bucket = Literal["chat", "add", "search", "read", "admin"]
# in which projects a request acts: `one` is the named one, else the default; `named` the named one, else all that its
# key is for
Projects = Literal["one", "named"]

_BUCKETS: Mapping[Right, Bucket] = {"any": "read", "read": "read", "write": "add"}  # of all other rights: admin
_NEEDED: Mapping[Right, str] = {
    "manage": "admin or operator",
    "server": "operator, or admin of a key that is bound to no project and no user",
}
_CHANGING = ("DELETE", "PATCH", "PUT")
_SAYS, PROJECTS = "__says__", "__projects__"
Marked = TypeVar("Marked", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Says:
    """What a route says of itself."""

    right: Right
    bucket: Bucket | None = None  # whose rate limit its requests count for; None: by the right
    act: str | None = None  # its action in the audit log; None: none, or written down where it is done
    by_cookie: bool = True  # whether the cookie of a signed-in person counts; not on routes of chat clients
    by_foreign_pages: bool = True  # whether a page of another origin may ask, with a key
    counts: bool = True  # whether the door counts its requests; else the route does, by what each asks for
    is_stream: bool = False  # a GET for which that cookie counts only with the page's origin or token
    slash: bool = (
        False  # whether a DELETE of it may end in a slash, as by contract those of memories and of chat clients
    )
    # whether each member of its body must be known, and no name in its path may be empty: so with every DELETE, PATCH
    # and PUT of our own, with what changes something by another right than to write, such as who may what and for how
    # long, and with what else takes something away, takes it back, or gives or stores a whole
    exact: bool = False
    asks: bool = False  # a POST that only asks, and so is not exact whatever its right
    reads_body: bool = False  # an exact route that reads a body in a form of its own, such as lines of a file
    about: str | None = None  # the path parameter that names the user it is about; None: query `user_id` does
    known_query: bool = False  # whether a route that is not our own refuses other query parameters, too
    query: tuple[str, ...] | None = None  # all known query parameters; None, until it is registered: by the signature
    lists: tuple[str, ...] = ()  # those of them that may come more than once
    members: tuple[str, ...] = ()  # the known members of its body; by its dependencies
    projects: Projects = "one"  # where its requests act, if `project` is among `query`; by its dependencies

    @property
    def counts_as(self) -> Bucket:
        """The bucket whose rate limit the route's requests count for."""
        return self.bucket or _BUCKETS.get(self.right, "admin")

    @property
    def takes_slash(self) -> bool:
        """Whether a DELETE with a slash at the end of its path is meant for the route."""
        return self.slash or not self.by_cookie

    @property
    def is_own(self) -> bool:
        """Whether it is none of another protocol, and takes no query parameter that it does not know."""
        return self.by_cookie and self.needs_credential

    @property
    def needs_credential(self) -> bool:
        """Whether a caller must be known."""
        return self.right not in ("open", "signing_in")


class More(TypedDict, total=False):
    """What a route may say besides its right; see `Says`."""

    bucket: Bucket
    act: str | None
    by_cookie: bool
    by_foreign_pages: bool
    counts: bool
    is_stream: bool
    slash: bool
    exact: bool
    asks: bool
    reads_body: bool
    known_query: bool
    about: str
    query: tuple[str, ...]
    lists: tuple[str, ...]


class DeclaredRoute(Route):
    """A route that says what it is. `is_as_sent` tells whether it matches the path as sent, else as decoded."""

    says: Says
    is_as_sent = False

    def complete(self, said: Says) -> Says:
        """What its endpoint said, with what else is known of the route. Raises TypeError where that is too little."""
        raise NotImplementedError


class PlainRoute(DeclaredRoute):
    """A route without a signature that FastAPI could read."""

    def complete(self, said: Says) -> Says:
        """What its endpoint said. Raises TypeError where it names no query parameters."""
        if said.query is None:
            raise TypeError(
                f"{name_of(self)} has no signature to read. Say which query parameters it knows, or query=()."
            )
        return said


class DirectRoute(PlainRoute):
    """A plain route outside the layers of the REST application; its endpoint makes the application that answers."""

    __hash__ = object.__hash__


def says(right: Right, **more: Unpack[More]) -> Callable[[Marked], Marked]:
    """Mark an endpoint with what its routes say of themselves."""
    said = Says(right=right, **more)

    def mark(endpoint: Marked) -> Marked:
        setattr(endpoint, _SAYS, (said, "act" in more))
        return endpoint

    return mark


def takes_project(projects: Projects) -> Callable[[Marked], Marked]:
    """Mark a dependency that takes the project from the request itself, by `scopes.py`, not by its signature."""

    def mark(dependency: Marked) -> Marked:
        setattr(dependency, PROJECTS, projects)
        return dependency

    return mark


def declare(route: DeclaredRoute) -> None:
    """Complete a route: give it what its endpoint says, and a pattern that ends where the path ends.

    Raises TypeError, which names the route, where its endpoint says too little: nothing; no `act`, though it deletes,
    or changes something by the right of an admin or operator; no `query`, though there is no signature to read; or a
    path parameter that it has not.
    """
    said, names_act = getattr(route.endpoint, _SAYS, (None, False))
    methods, name = _methods_of(route), name_of(route)
    if said is None:
        raise TypeError(
            f"{name} says nothing. Put @says(…), with the right it takes, below the decorator of its route."
        )
    changes_much = said.right in ("admin", "manage") and methods != {"GET"}
    if ("DELETE" in methods or changes_much) and not names_act:
        raise TypeError(f"{name} names no act. Say which action the audit log has of it, or act=None.")
    if said.about is not None and said.about not in route.param_convertors:
        raise TypeError(f"{name} has no path parameter {said.about!r} that it could be about.")
    sets_something = methods != {"GET"} and said.right not in ("read", "write") and not said.asks
    changes = sets_something or not methods.isdisjoint(_CHANGING)
    said = replace(said, exact=said.is_own and (said.exact or changes))
    route.says = route.complete(said)
    # Starlette's patterns end in `$`, which matches before a final line feed, too
    route.path_regex = re.compile(rf"{route.path_regex.pattern.removesuffix('$')}\Z")


def name_of(route: Route) -> str:
    """The methods and the path of a route, for errors."""
    return f"{' and '.join(sorted(_methods_of(route)))} {route.path}"


def _methods_of(route: Route) -> set[str]:
    return set(route.methods or ()) - {"HEAD"}


def has_right(principal: Principal, right: Right) -> bool:
    """Whether the principal has the right."""
    match right:
        case "open" | "signing_in" | "any":
            return True
        case "manage":
            return principal.may("admin") or principal.may("operator")
        case "server":
            return principal.sees_server
        case "read" | "write" | "admin":
            return principal.may(right)


def refusal_of(principal: Principal, right: Right) -> MnemoirError | None:
    """The error for a principal without the right; None for one that has it."""
    if has_right(principal, right):
        return None
    own = ", ".join(principal.roles)
    return Forbidden(f"The role of this key is {own}; this takes {_NEEDED.get(right, right)}. Use a key that may.")
