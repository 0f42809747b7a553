"""The backups that were made of a data directory, written down in it, so that an erasure can tell what they hold."""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path

from mnemoir.core.atomic_file import append_line
from mnemoir.core.clock import from_text, to_text
from mnemoir.core.data_directory import LIST_FILE


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownBackup:
    """A backup: when it began, where it lies, and how many are kept beside it, None for a single one.

    `ends_at` is when it is to go by the settings; None where they tell no time.
    """

    made_at: str
    path: str
    keep: int | None = None
    ends_at: str | None = None


def note_backup(data_dir: Path, backup: KnownBackup) -> None:
    """Write down that a backup was made, durably. Raises OSError."""
    append_line(data_dir / LIST_FILE, json.dumps(asdict(backup)))


def known_backups(data_dir: Path, days: int | None) -> Sequence[KnownBackup]:
    """The backups that are still there, oldest first; each goes `days` after it was made. Blocks."""
    return [backup for backup in _listed_backups(data_dir, days) if os.path.isdir(backup.path)]


def is_listed(data_dir: Path, made_at: str) -> bool:
    """Whether a backup of that time was made of this data directory. Blocks."""
    return any(backup.made_at == made_at for backup in _listed_backups(data_dir, None))


def _listed_backups(data_dir: Path, days: int | None) -> list[KnownBackup]:
    """All backups in the list file, oldest first, also removed ones; by `days` each has its time of removal."""
    try:
        lines = (data_dir / LIST_FILE).read_text("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return []
    return [backup for line in lines if (backup := _read(line, days)) is not None]


def _read(line: str, days: int | None) -> KnownBackup | None:
    try:
        said = json.loads(line)
        made_at = from_text(said["made_at"])
    except (ValueError, KeyError, TypeError):  # half a line, of a killed writer
        return None
    if made_at is None:
        return None
    ends_at = None if days is None else to_text(made_at + timedelta(days=days))
    return KnownBackup(made_at=said["made_at"], path=said["path"], keep=said.get("keep"), ends_at=ends_at)
