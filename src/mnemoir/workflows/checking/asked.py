"""The endpoints that the workflows of users ask, found from their files: those they name, and their backups."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from mnemoir.core.errors import SettingsError
from mnemoir.ports.llm import ModelServerKind
from mnemoir.workflows.checking.survey import FilePosition, Survey, Types
from mnemoir.workflows.checking.users import check_user
from mnemoir.workflows.config.endpoint import EndpointDefinition
from mnemoir.workflows.config.lookup import EXTENSION
from mnemoir.workflows.config.tree import ConfigTree, UserTree

_LOOK_THERE = "Correct it; the page Workflows, or `mnemoir check`, lists all problems of the tree."


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedEndpoint:
    """An endpoint and the files that name it, sorted; none for a backup and for a name with variables.

    `path` is relative to the root, None for a missing file. `problem` is the reason why the endpoint cannot be asked
    and `fix` the remedy; both are "" for a usable endpoint, and only that has `definition` and `kind`.
    """

    name: str
    path: str | None
    named_in: Sequence[str]
    problem: str = ""
    fix: str = ""
    definition: EndpointDefinition | None = None
    kind: ModelServerKind | None = None


def asked_endpoints(
    tree: ConfigTree, users: Sequence[str], types: Types, called: Iterable[str] = ()
) -> list[AskedEndpoint]:
    """Each endpoint once, ordered by name. `called` are names that nodes asked for at run time."""
    survey = Survey(tree, types)
    found: dict[str, AskedEndpoint] = {}
    for name in users:
        check_user(survey, name, FilePosition(file=f"Users/{name.lower()}.json"))
        user = UserTree(name, tree)
        named = {endpoint: files for (whose, endpoint), files in survey.endpoints.items() if whose == name}
        for endpoint in _with_backups(user, [*named, *_endpoints_of_user(user, called)]):
            one = _asked_endpoint(user, endpoint, named.get(endpoint, ()))
            key = one.path or f"{name}\n{endpoint.lower()}"
            found[key] = _with_files_of(found[key], one) if key in found else one
    return sorted(found.values(), key=lambda one: (one.name.lower(), one.path or ""))


def _with_backups(user: UserTree, names: Iterable[str]) -> Iterator[str]:
    """The names and their backups, each once. Without recursion, because backups may form a circle."""
    waiting, seen = deque(names), set[str]()
    while waiting:
        name = waiting.popleft()
        if name in seen:
            continue
        seen.add(name)
        yield name
        try:
            backup = user.endpoint(name).backup
        except SettingsError:
            continue
        if backup:
            waiting.append(backup)


def _endpoints_of_user(user: UserTree, names: Iterable[str]) -> Iterator[str]:
    """Those names whose endpoint file the user has: of several users, only these can have asked it."""
    for name in names:
        try:
            if user.tree.find("endpoint", name, user.endpoint_folders()):
                yield name
        except SettingsError:
            continue


def _asked_endpoint(user: UserTree, name: str, files: Iterable[str]) -> AskedEndpoint:
    one = AskedEndpoint(name=_plain(name), path=None, named_in=sorted(files))
    try:
        folders = user.endpoint_folders()
        found = user.tree.find("endpoint", name, folders)
        if found is None:
            return replace(
                one, problem=user.tree.absent("endpoint", name, folders), fix=user.tree.advice(name, folders)
            )
        one = replace(one, path=user.tree.lookup.relative(found.path))
        definition = user.endpoint(name)
        api_type = user.api_type(definition.api_type)
    except SettingsError as exc:
        return replace(one, problem=exc.message, fix=_LOOK_THERE)
    if api_type.kind is None:
        problem = f"API type {definition.api_type} has the unknown type {api_type.type!r}."
        return replace(one, problem=problem, fix=_LOOK_THERE)
    return replace(one, definition=definition, kind=api_type.kind)


def _with_files_of(one: AskedEndpoint, other: AskedEndpoint) -> AskedEndpoint:
    """The endpoint with the files of both that name it."""
    return replace(one, named_in=sorted({*one.named_in, *other.named_in}))


def _plain(name: str) -> str:
    return name[: -len(EXTENSION)] if name.lower().endswith(EXTENSION) else name
