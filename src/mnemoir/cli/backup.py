"""`mnemoir backup …`: make, check and restore backups of a data directory, also beside a running server."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mnemoir.cli.groups import group
from mnemoir.cli.output import Config, Json, count_with_noun, note, print_json, print_row
from mnemoir.core.errors import InvalidRequest

if TYPE_CHECKING:
    from mnemoir.storage.backups.manifest import Manifest
    from mnemoir.storage.backups.sealing import BackupKey

commands = group("Make, check and restore backups of a whole data directory.")

DataDir = Annotated[Path | None, typer.Option(help="Data directory; else the one of the settings.")]
KeyFile = Annotated[
    Path | None,
    typer.Option(help="File with the key: 64 hexadecimal digits, or a passphrase of at least 12 characters."),
]
Backup = Annotated[Path, typer.Argument(help="A backup; of a folder of backups the newest one.")]


@commands.command()
def create(
    target: Annotated[Path, typer.Argument(help="New folder for the backup, or an older backup to replace.")],
    keep: Annotated[
        int | None, typer.Option(min=1, help="Make it in a folder of backups, and keep so many of them there.")
    ] = None,
    keys: Annotated[
        bool, typer.Option("--keys", help="With the keys of callers and of models, and the audit log.")
    ] = False,
    with_all: Annotated[bool, typer.Option("--all", help="With caches and traces of runs, too.")] = False,
    encrypt: Annotated[bool, typer.Option("--encrypt", help="Encrypt it with the key of --key-file.")] = False,
    key_file: KeyFile = None,
    config: Config = None,
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """Copy the data directory into a backup, also while a server runs."""
    from mnemoir.settings import load_settings
    from mnemoir.upkeep.backups import Choice, create_backup, create_kept_backup

    if encrypt != (key_file is not None):
        raise InvalidRequest("--encrypt and --key-file go together: name the file of the key, or neither.")
    settings, key = load_settings(config, {"storage.data_dir": data_dir}), _key(key_file)
    choice = Choice(keys=keys, all=with_all)
    if keep is None:
        path, made = create_backup(settings, target, choice, key)
    else:
        path, made = create_kept_backup(settings, target, choice, keep, key)
    _print_done(path, made, as_json=as_json)
    for line in made.left_out:
        note(f"Not in the backup: {line}")
    if not keys:
        note("Not in the backup: keys of callers and of models, and the audit log (add --keys to have them in it).")


@commands.command()
def verify(backup: Backup, key_file: KeyFile = None, as_json: Json = False) -> None:
    """Check every file of a backup and every database in it; exit 1 if anything is wrong."""
    from mnemoir.upkeep.restoring import problems_in

    path, problems = problems_in(backup, _key(key_file))
    if as_json:
        print_json({"backup": str(path), "problems": problems})
    else:
        for problem in problems:
            print_row(problem)
    if problems:
        raise typer.Exit(1)
    if not as_json:
        print_row(path, "whole")


@commands.command()
def restore(
    backup: Backup,
    data_dir: Annotated[Path, typer.Option(help="Data directory to make: missing or empty.")],
    key_file: KeyFile = None,
    lost: Annotated[
        Path | None,
        typer.Option(help="The data directory that is lost, or what is left of it, which tells who was erased."),
    ] = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Make a data directory from a backup, after checking it. Who was erased since is erased again."""
    from mnemoir.app import open_parts
    from mnemoir.settings import load_settings
    from mnemoir.upkeep.restoring import restore_backup

    settings = load_settings(config, {})
    live, encryption = settings.storage.data_dir, settings.encryption
    restored = restore_backup(
        backup, data_dir, _key(key_file), open_parts=open_parts, lost=lost, live=live, encryption=encryption
    )
    manifest = restored.manifest
    _print_done(restored.path, manifest, as_json=as_json)
    for line in manifest.left_out:
        note(f"Was not in the backup: {line}")
    if restored.erased:
        note("Who was erased since the backup was made was erased from it, too; traces of runs went with them.")
    if not manifest.has_keys:
        note("Was not in the backup: keys, and the audit log.")
        note("A server with this data asks callers for no key until you make one: `mnemoir keys create`.")


def _key(file: Path | None) -> "BackupKey | None":
    from mnemoir.storage.backups.sealing import BackupKey

    return None if file is None else BackupKey.read(file)


def _print_done(path: Path, manifest: "Manifest", *, as_json: bool) -> None:
    if as_json:
        print_json(_json(path, manifest))
        return
    print_row(
        path, count_with_noun(len(manifest.files), "file"), f"{manifest.size_bytes // 1024} KiB", manifest.made_at
    )
    for name, number in manifest.counts.items():
        print_row(name, number)


def _json(path: Path, manifest: "Manifest") -> dict[str, Any]:
    return {
        "path": str(path),
        "made_at": manifest.made_at,
        "files": len(manifest.files),
        "size_bytes": manifest.size_bytes,
        "counts": manifest.counts,
        "has_keys": manifest.has_keys,
        "left_out": manifest.left_out,
    }
