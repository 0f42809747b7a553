"""The names of users' folders of conversations, `{conversations}/{project}/{user}/`, and whose they are."""

import os
import shutil
from pathlib import Path

from mnemoir.core.atomic_file import sync_folder
from mnemoir.core.data_directory import SESSIONS_FILE
from mnemoir.core.discussion_id import is_encoded
from mnemoir.core.errors import StorageDamaged
from mnemoir.core.scope import DEFAULT_TENANT, Scope
from mnemoir.storage.databases import embedded
from mnemoir.storage.files.workspace import file_errors
from mnemoir.storage.spelled_folders import SpelledFolders
from mnemoir.storage.sql.tables import Owner


def folder_of(folders: SpelledFolders, root: Path, scope: Scope) -> Path:
    """The folder of the scope's owner; it need not exist yet."""
    return folders.of(folders.of(root, of_tenant(scope.tenant, scope.project)), scope.user)


def owner_of(folder: Path) -> Owner:
    """Whose key encrypts a folder, told by its name alone: names that are encoded stay so, in the default tenant."""
    place = folder.parent.name
    tenant = tenant_in(place)
    if tenant is None:
        return DEFAULT_TENANT, place, folder.name
    return tenant, project_in(place, tenant) or "", folder.name


def owners_of(root: Path, scope: Scope) -> list[Owner]:
    """Whose keys encrypt what is stored of a user: memories and conversations mostly have the same. Blocks."""
    return list(dict.fromkeys([scope_owner(scope), owner_of(folder_of(SpelledFolders(), root, scope))]))


def scope_owner(scope: Scope) -> Owner:
    """Whose key encrypts the memories of a scope."""
    return scope.tenant, scope.project, scope.user


def users_below(root: Path) -> list[Path]:
    """Every user's folder, by name. Blocks."""
    return sorted(folder for folder, *_ in folders_below(root))


def remove(folder: Path) -> None:
    """Delete a folder and all in it, durably. Raises StorageUnavailable."""
    with file_errors(str(folder), "removed"):
        if folder.exists():
            shutil.rmtree(folder)
            sync_folder(folder.parent)


def rename(old: Path, new: Path) -> None:
    """Give a folder, and so its file, to another user of the project, durably. Raises StorageUnavailable."""
    with file_errors(str(old), "renamed"):
        old.rename(new)
        sync_folder(new.parent)
    give_file(new)


def give_file(folder: Path) -> None:
    """Give the file in a folder, which is not open, to the user of the folder. Raises StorageUnavailable."""
    embedded.give_to_owner(folder / SESSIONS_FILE, place_of(folder))


def place_of(folder: Path) -> str:
    """The catalogue's key of a user's folder, and whose the file in it is: `project/user` as directory names."""
    return f"{folder.parent.name}/{folder.name}"


def link_in(folder: Path) -> Path | None:
    """The link by which a user's folder, or something in it, would be found; None for none."""
    if (link := next((path for path in (folder.parent, folder) if path.is_symlink()), None)) is not None:
        return link
    try:
        with os.scandir(folder) as entries:
            return next((folder / entry.name for entry in entries if entry.is_symlink()), None)
    except (FileNotFoundError, NotADirectoryError):
        return None


def refuse_link(folder: Path) -> None:
    """Raise StorageDamaged where a link leads to a folder, or out of it: it may lead to somebody else's."""
    if (link := link_in(folder)) is not None:
        raise StorageDamaged(
            f"{link} is a link (storage_damaged), so nobody follows it: it may lead to somebody else's. Put what it "
            "leads to in its place."
        )


def of_tenant(tenant: str, project: str) -> str:
    """The name of a project of a tenant; no name of either holds the sign between them."""
    return project if tenant == DEFAULT_TENANT else f"{tenant}={project}"


def folders_in(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except FileNotFoundError:
        return []


def folders_below(root: Path) -> list[tuple[Path, str | None, str | None]]:
    """Every user's folder, with tenant and project where the name of the project's folder tells them."""
    return [
        (root / parent / name, tenant, None if tenant is None else project_in(parent, tenant))
        for parent in folders_in(root)
        for tenant in (tenant_in(parent),)
        for name in folders_in(root / parent)
    ]


def tenant_in(name: str) -> str | None:
    """The tenant of a folder of a project; None where the name is encoded."""
    if is_encoded(name):
        return None
    tenant, is_named, _ = name.partition("=")
    return tenant if is_named else DEFAULT_TENANT


def project_in(name: str, tenant: str) -> str | None:
    """The project of a folder of a tenant; None for another tenant's, and where the name is encoded."""
    return name.rpartition("=")[2] if tenant_in(name) == tenant else None
