"""`mnemoir encryption …`: look at what is encrypted, and change or destroy keys, also beside a running server."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mnemoir.cli.groups import group
from mnemoir.cli.output import Config, DataDir, Json, count_with_noun, note, print_json, print_row
from mnemoir.core.errors import InvalidRequest
from mnemoir.core.scope import Scope

if TYPE_CHECKING:
    from mnemoir.storage.sealing.key_ring import KeyRing
    from mnemoir.upkeep.encryption import Encryption

commands = group("Look at the encryption of what is stored, and change or destroy its keys.")

User = Annotated[str | None, typer.Option("--user", "-u", help="Whose key.")]
Project = Annotated[str, typer.Option("--project", "-p", help="Project of the user.")]
Tenant = Annotated[str, typer.Option(help="Tenant of the project.")]


@commands.command()
def status(config: Config = None, data_dir: DataDir = None, as_json: Json = False) -> None:
    """Print how many users' data are encrypted, by which keys, and what stays plain."""
    from mnemoir.core.data_directory import DATABASE_FILE
    from mnemoir.settings import load_settings
    from mnemoir.upkeep.encryption import plain_places

    settings = load_settings(config, {"storage.data_dir": data_dir})
    with _open_encryption(config, data_dir) as encryption:
        users, encrypted, plain = encryption.share(settings.storage.data_dir / DATABASE_FILE)
        talks, encrypted_talks = encryption.share_of_conversations()
        keks = encryption.ring.store().keks() if encryption.ring is not None and encryption.place.exists() else {}
    places = plain_places(settings) if encryption.is_on else {}
    destroyed = keks.pop("", 0)
    if as_json:
        print_json(
            {
                "mode": settings.encryption.mode,
                "store": encryption.place.name,
                "users": users,
                "encrypted": encrypted,
                "plain": plain,
                "conversations": talks,
                "encrypted_conversations": encrypted_talks,
                "keys": keks,
                "destroyed_keys": destroyed,
                "plain_places": places,
            }
        )
        return
    print_row("mode", settings.encryption.mode)
    print_row("users", f"{encrypted} of {users} encrypted")
    print_row("chats", f"those of {encrypted_talks} of {count_with_noun(talks, 'user')} encrypted")
    for kek, count in keks.items():
        print_row("keys", f"{count_with_noun(count, 'key')} wrapped by {kek}")
    if destroyed:
        print_row("keys", f"{destroyed} destroyed")
    for name, what in places.items():
        print_row("plain", f"{name}: {what}")


@commands.command()
def apply(config: Config = None, data_dir: DataDir = None, as_json: Json = False) -> None:
    """Encrypt, or write in plain, what is not stored as the settings say. A running server does that by itself."""
    from mnemoir.core.data_directory import DATABASE_FILE, MEMORY_PACKS
    from mnemoir.settings import load_settings

    folder = load_settings(config, {"storage.data_dir": data_dir}).storage.data_dir
    with _open_encryption(config, data_dir) as encryption:
        done = asyncio.run(encryption.apply(folder / DATABASE_FILE, folder / MEMORY_PACKS))
    if as_json:
        print_json(asdict(done))
    else:
        note(f"Memories of {count_with_noun(done.users, 'user')} brought up to date.")
        note(f"Conversations of {count_with_noun(done.conversations, 'user')} brought up to date.")
    if done.failed:
        note(
            f"{count_with_noun(done.failed, 'user')} not: their keys are missing, wrong or destroyed. See the log "
            "above."
        )
        raise typer.Exit(1)


@commands.command()
def rotate(
    user: User = None,
    project: Project = "default",
    tenant: Tenant = "default",
    for_all: Annotated[bool, typer.Option("--all", help="The keys of all users, and the server's own.")] = False,
    config: Config = None,
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """Give a user, or all, a new key; what is stored is then written anew, by `apply` or a running server."""
    if for_all == (user is not None):
        raise InvalidRequest("Say whose key: --user NAME, or --all.")
    with _keys(config, data_dir, "encryption.rotate", user, tenant) as (encryption, ring):
        owners = ring.store().owners()
        if user is not None:
            scope = Scope(tenant=tenant, project=project, user=user)
            of_user = encryption.owners_of(scope)
            owners = [owner for owner in of_user if owner in owners] or of_user[:1]
        for owner in owners:
            ring.rotate(owner)
    if as_json:
        print_json({"rotated": len(owners)})
    else:
        note(f"{count_with_noun(len(owners), 'key')} made.")


@commands.command()
def rewrap(config: Config = None, data_dir: DataDir = None, as_json: Json = False) -> None:
    """Wrap all keys by the first key of the provider; the former one must still stand behind it."""
    with _keys(config, data_dir, "encryption.rewrap", None, "default") as (_, ring):
        count = ring.rewrap()
        kek = ring.kek()
    if as_json:
        print_json({"rewrapped": count, "wrapped_by": kek})
    else:
        note(f"{count_with_noun(count, 'key')} wrapped anew, by {kek}. No other key is needed now.")


@commands.command("backup-keys")
def backup_keys(
    file: Annotated[Path, typer.Argument(help="New file for the copy, outside of the data directory.")],
    config: Config = None,
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """Copy the key store, which is in no backup, into a file. To restore it, put that where the key store was."""
    with _keys(config, data_dir, "encryption.backup-keys", None, "default") as (encryption, _):
        encryption.copy_keys(file)
    if as_json:
        print_json({"copy": str(file)})
    else:
        note(f"Copied to {file}. It is of no use without your own key.")
        note("Delete it after an erasure: it still holds the keys of who was erased.")


@commands.command("erase-key")
def erase_key(
    user: Annotated[str, typer.Option("--user", "-u", help="Whose keys.")],
    project: Project = "default",
    tenant: Tenant = "default",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    config: Config = None,
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """Destroy all keys of a user for good: what was encrypted cannot be read any more, in no backup either.

    A running server, or `apply`, then deletes what is left of it. Refused for a user on legal hold.
    """
    from mnemoir.core.data_directory import DATABASE_FILE
    from mnemoir.settings import load_settings
    from mnemoir.storage.databases import databases
    from mnemoir.storage.sql.holds import refuse_on_hold

    scope = Scope(tenant=tenant, project=project, user=user)
    storage = load_settings(config, {"storage.data_dir": data_dir}).storage
    database = storage.data_dir / DATABASE_FILE
    if storage.dsn is not None or database.exists():
        databases(storage.dsn).read(database, lambda sql: refuse_on_hold(sql, scope))
    if not yes:
        typer.confirm(f"Make all that is encrypted of {user} in {project} unreadable for good?", abort=True, err=True)
    with _keys(config, data_dir, "encryption.erase-key", user, tenant) as (encryption, _):
        count = encryption.destroy_keys(encryption.owners_of(scope))
    if as_json:
        print_json({"destroyed": count})
    else:
        note(f"{count_with_noun(count, 'key')} destroyed. Backups of the key store made before still hold them.")


@contextmanager
def _open_encryption(config: Any, data_dir: Any) -> "Iterator[Encryption]":
    from mnemoir.settings import load_settings
    from mnemoir.upkeep.encryption import Encryption

    encryption = Encryption(load_settings(config, {"storage.data_dir": data_dir}))
    try:
        yield encryption
    finally:
        encryption.close()


@contextmanager
def _keys(
    config: Any, data_dir: Any, action: str, user: str | None, tenant: str
) -> "Iterator[tuple[Encryption, KeyRing]]":
    """The keys, for an act that the audit log has, where there is one. Raises InvalidRequest without any key."""
    from mnemoir.cli.access_file import opened_access_file

    with _open_encryption(config, data_dir) as encryption:
        if encryption.ring is None or not encryption.place.exists():
            raise InvalidRequest(f"Nothing is encrypted: there is no key store at {encryption.place.name}.")
        with opened_access_file(config, data_dir) as file:
            begun = file.note_act(action, user, tenant, "begun")
            yield encryption, encryption.ring
            file.note_act(action, user, tenant, "done", of=begun)
