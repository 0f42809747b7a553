"""Project folders below the workspace root, reached one step at a time so that no symbolic link leads out.

Every step is opened relative to the folder before it and without following links, and files are then named relative
to the last folder. So a folder cannot be swapped for a link between a check and its use, and nothing below the root
may be a link at all; the root itself may be one.

The default tenant's projects are directly below the root; those of another are in `.tenants/<tenant>`, a name that no
project can have.

Failures of files and damaged contents become StorageUnavailable, naming file and cause.
"""

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from mnemoir.core.errors import InvalidRequest, NotSupported, StorageUnavailable
from mnemoir.core.scope import DEFAULT_TENANT, NOWHERE, Scope, project_name
from mnemoir.ports.memory_store import Project
from mnemoir.storage.size_limit import os_size_error

_NEXT_STEP = {
    errno.ENOSPC: "Free some space on that disk.",
    errno.EDQUOT: "Raise the disk quota or free some space.",
    errno.EACCES: "Give the server's user the right to it.",
    errno.EPERM: "Give the server's user the right to it.",
    errno.EROFS: "Mount the workspace writable.",
    errno.EMFILE: "Raise the limit of open files (ulimit -n).",
    errno.ENFILE: "Close programs that hold many files open.",
    errno.ETIMEDOUT: "End the program that holds it, or try again.",
    errno.ELOOP: "Put the folder or file itself in place of the link: links below the workspace are not followed.",
    errno.ENOTDIR: "Put a folder in its place: links below the workspace are not followed.",
}
OURS = ".etienne"  # the folder of a project that holds what belongs to its assistant
_TENANTS = ".tenants"
_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_PRIVATE_FOLDER = 0o700


@contextmanager
def file_errors(name: str, doing: str) -> Iterator[None]:
    """Raise StorageUnavailable in place of OSError; `name` is the file's path within the workspace."""
    try:
        yield
    except OSError as exc:
        cause = exc.strerror or str(exc)
        if (error := os_size_error(name, exc)) is not None:
            raise error from exc
        step = _NEXT_STEP.get(exc.errno or 0, "See the server's disk and log.")
        raise StorageUnavailable(f"{name} could not be {doing}: {cause}. {step}") from exc


@contextmanager
def damage_errors(name: str) -> Iterator[None]:
    """Raise StorageUnavailable in place of ValueError, which means that the file's content is invalid."""
    try:
        yield
    except ValueError as exc:
        raise StorageUnavailable(
            f"{name} is damaged ({exc}) and was left as it is. Repair it or take it away."
        ) from exc


def json_object(content: bytes) -> dict[str, Any]:  # other programs write any members
    """The members of a JSON object; {} for an empty file. Raises ValueError for anything else."""
    members = orjson.loads(content.removeprefix(b"\xef\xbb\xbf") or b"{}")
    if not isinstance(members, dict):
        raise ValueError("it is JSON, but not an object")
    return members


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """A folder by its steps below `root`; it need not exist."""

    root: Path
    steps: Sequence[str]

    def name_of(self, file: str) -> str:
        """The name of a file in messages: the path below the root, which does not reveal the root's location."""
        return "/".join((*self.steps, file))

    @contextmanager
    def open(self, *, create: bool = False) -> Iterator[int | None]:
        """The open folder for the `dir_fd` of other calls; None when it does not exist.

        With `create`, missing folders are created, private and synced. Raises OSError; ELOOP or ENOTDIR for a link.
        """
        folder = self._root(create=create)
        try:
            for step in self.steps:
                if folder is None:
                    break
                inner = _enter(folder, step, create=create)
                os.close(folder)
                folder = inner
            yield folder
        finally:
            if folder is not None:
                os.close(folder)

    def _root(self, *, create: bool) -> int | None:
        if create:
            self.root.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
        try:
            return os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            return None


def project_folder(root: Path, project: Project, *inner: str) -> Folder:
    """The project's `.etienne` folder, or one inside it; for NOWHERE one that never exists.

    Raises InvalidRequest for a name that is not allowed.
    """
    steps = [project_name(project.project), OURS, *inner]
    if project.tenant != DEFAULT_TENANT:
        tenant = project.tenant if project.tenant == NOWHERE else project_name(project.tenant)
        steps = [_TENANTS, tenant, *steps]
    return Folder(root=root, steps=tuple(steps))


def project_of(scope: Scope) -> Project:
    """The scope's project. Raises NotSupported for a workflow node, as memories have no such level."""
    if scope.node is not None:
        raise NotSupported("Memories are not kept by workflow node, so none can be asked for by one.")
    return Project(tenant=scope.tenant, project=scope.project)


def existing(folder: int | None) -> int:
    """The open folder; raises FileNotFoundError when there is none, as it may be deleted at any time."""
    if folder is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    return folder


def projects(root: Path) -> list[Project]:
    """Every project that has a folder of ours, in name order; [] without a root. Raises StorageUnavailable."""
    with file_errors("The workspace root", "listed"):
        found = [Project(tenant=DEFAULT_TENANT, project=name) for name in _projects_in(root)]
        for tenant in _names_in(root / _TENANTS):
            found += [Project(tenant=tenant, project=name) for name in _projects_in(root / _TENANTS / tenant)]
        return found


def _projects_in(folder: Path) -> list[str]:
    return [name for name in _names_in(folder) if (folder / name / OURS).is_dir()]


def _names_in(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except FileNotFoundError:
        return []
    return sorted(name for name in names if _is_project_name(name))


def _is_project_name(name: str) -> bool:
    try:
        return bool(project_name(name))
    except InvalidRequest:
        return False


def _enter(folder: int, step: str, *, create: bool) -> int | None:
    """The folder `step` inside `folder`; None when it does not exist."""
    try:
        return _open_or_make(folder, step) if create else os.open(step, _OPEN_FOLDER, dir_fd=folder)
    except FileNotFoundError:
        return None


def _open_or_make(folder: int, step: str) -> int:
    try:
        os.mkdir(step, _PRIVATE_FOLDER, dir_fd=folder)
        os.fsync(folder)
    except FileExistsError:
        pass  # the usual case
    return os.open(step, _OPEN_FOLDER, dir_fd=folder)


def refuse_other_spelling(folder: Folder) -> None:
    """Raise StorageUnavailable when the disk holds a project's folder under another spelling of its name.

    A file system that ignores case would otherwise give the projects `a` and `A` one and the same file.
    """
    if OURS not in folder.steps:
        return
    parent = folder.root
    for step in folder.steps:
        if step == OURS:
            return
        if os.path.lexists(parent / step) and step not in os.listdir(parent):
            raise StorageUnavailable(
                f"Project folder {step!r} is stored under another spelling of its name, because this file system "
                "does not tell upper from lower case. Use the name as it is stored."
            )
        parent = parent / step
