"""The identity of a data directory: an id in `identity.json` and its databases, and which of these must be there.

A database that is lost looks like one that was never made, and an empty one admits everybody. So the file names those
that were made, and the row of a scope says that there are conversations of it. What must be there and is missing,
empty or of another directory is lost: it is neither opened nor begun anew, until somebody takes the loss as it is.

That keys or people were made is noted twice, also in a file of its own beside the pepper: so no single file that is
lost or edited lets everybody in. A pepper tells nothing of that, as a directory without keys may have one.
"""

import json
import re
import threading
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from mnemoir.core.atomic_file import replacing, sync_folder
from mnemoir.core.data_directory import (
    ACCESS_FILE,
    CONVERSATIONS,
    DATABASE_FILE,
    IDENTITY_FILE,
    KEYS_MADE_FILE,
    PEPPER_FILE,
    POSTGRES,
    SESSIONS_FILE,
    TOMBSTONES_FILE,
)
from mnemoir.core.errors import StorageDamaged, StorageUnavailable
from mnemoir.storage.disk_files import hold_folder_lock, prepare_folder
from mnemoir.storage.sqlite.membership import Belonging, Membership, lost_identity_error, read_belonging
from mnemoir.storage.sqlite.transactions import storage_errors

_ID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """The content of the file. `expected` are the names of databases that must be there."""

    id: str
    expected: frozenset[str] = frozenset()


class DirectoryIdentity:
    """Thread-safe and blocking; reads the file once. Every method raises StorageUnavailable."""

    def __init__(self, data_dir: Path, conversations: Path | None = None) -> None:
        """`conversations` is the folder of conversations where it lies elsewhere."""
        self.path = data_dir / IDENTITY_FILE
        self._keys_made = data_dir / KEYS_MADE_FILE
        self._conversations = conversations or data_dir / CONVERSATIONS
        self._lock = threading.Lock()
        self._known: _Known | None = None

    @property
    def id(self) -> str | None:
        """The id of the directory; None without the file."""
        known = self._read()
        return None if known is None else known.id

    def ensure(self) -> None:
        """Give the directory an id, if it has none. It must be there. Raises StorageDamaged as `refuse_remains`."""
        self.refuse_remains()
        self._write(lambda known: known)

    def refuse_remains(self) -> None:
        """Raise StorageDamaged where the file is missing beside something that a server left.

        A directory whose databases are all gone would else be begun as a new one, and admit everybody.
        """
        if self._read() is not None or (found := self.remains) is None:
            return
        if self._read() is None:  # once more: somebody may have begun the directory, and the file is there first
            raise lost_identity_error(self.path, found)

    @property
    def remains(self) -> Path | None:
        """Something of the directory that a server left, whether the file is there or not; None for nothing."""
        without_id = (self.path.parent / name for name in (TOMBSTONES_FILE, PEPPER_FILE, KEYS_MADE_FILE))
        there = next((path for path in without_id if path.exists()), None)
        return next((path for path, _ in self._belongings()), there)

    @property
    def id_in_remains(self) -> str | None:
        """The id that a database of the directory belongs to, whether the file is there or not; None for none."""
        return next((belonging.directory for _, belonging in self._belongings()), None)

    def _belongings(self) -> Iterator[tuple[Path, Belonging]]:
        own = (self.path.with_name(name) for name in (DATABASE_FILE, ACCESS_FILE))
        for path in (*own, *sorted(self._conversations.glob(f"*/*/{SESSIONS_FILE}"))):
            with suppress(StorageUnavailable):  # other checks name what is wrong with it
                if (belonging := read_belonging(path)) is not None:
                    yield path, belonging

    def is_expected(self, name: str) -> bool:
        """Whether a database of that name must be in the directory."""
        is_noted_twice = name == ACCESS_FILE and self.id is not None  # else the identity is what is lost
        return name in self.expectation or (is_noted_twice and self.has_keys_note)

    @property
    def has_keys_note(self) -> bool:
        """Whether the file beside the pepper notes that, whatever `identity.json` says."""
        return self._keys_made.exists()

    def expect(self, name: str) -> None:
        """Note that the database must be there from now on."""
        if name == ACCESS_FILE:
            self._note_keys(were_made=True)
        if name not in self.expectation:
            self._write(lambda known: replace(known, expected=known.expected | {name}))

    def release(self, name: str) -> None:
        """Note that the database need not be there."""
        self._write(lambda known: replace(known, expected=known.expected - {name}))
        if name == ACCESS_FILE:
            self._note_keys(were_made=False)

    def refuse_memories_in(self, name: str) -> None:
        """Raise StorageDamaged where the memories must be in that database, and so in no other one."""
        if name in self.expectation:
            raise self.elsewhere_error(name)

    def elsewhere_error(self, name: str) -> StorageDamaged:
        """The error for memories that are in that database, while the settings name another one."""
        where = "PostgreSQL" if name == POSTGRES else str(self.path.with_name(name))
        return StorageDamaged(
            f"The memories of {self.path.parent} are in {where}, and storage.backend says another place "
            "(storage_damaged), so nothing is opened or begun there. Set storage.backend as it was, or name another "
            "directory in storage.data_dir; or take the memories as lost: stop the server and run "
            f"`mnemoir doctor --begin-anew {name}`."
        )

    @property
    def expectation(self) -> Collection[str]:
        """The names of the databases that must be in the directory."""
        known = self._read()
        return frozenset() if known is None else known.expected

    def expect_only(self, names: Iterable[str], id: str | None = None) -> None:
        """Note that these databases must be there, and no other one; a new file gets this `id`, or else a new one."""
        expected = frozenset(names)
        self._write(lambda known: replace(known, expected=expected), id)
        self._note_keys(were_made=ACCESS_FILE in expected)

    def name_of(self, file: Path) -> str:
        """The file as the command line calls it: below the directory by its steps, elsewhere by its path."""
        root = self.path.parent
        return file.relative_to(root).as_posix() if file.is_relative_to(root) else str(file)

    def membership(self, name: str) -> Membership:
        """What the database of that name must be."""
        return Membership(name=name, directory=lambda: self.id, is_expected=lambda: self.is_expected(name))

    def _note_keys(self, *, were_made: bool) -> None:
        if were_made == self.has_keys_note:
            return
        folder = self._keys_made.parent
        with storage_errors(self._keys_made, OSError):
            if were_made:
                prepare_folder(folder)
                with replacing(self._keys_made) as file:
                    file.write(b"Keys or people were made here, so access.db must be there. See docs/storage.md.\n")
            else:
                self._keys_made.unlink(missing_ok=True)
                sync_folder(folder)

    def _read(self) -> _Known | None:
        if self._known is None:
            self._known = self._content()
        return self._known

    def _content(self) -> _Known | None:
        try:
            with storage_errors(self.path, PermissionError, IsADirectoryError):
                text = self.path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        try:
            found = json.loads(text)
            id, expected = found["id"], found["expected"]
            if not _ID.fullmatch(id) or not all(isinstance(name, str) for name in expected):
                raise ValueError("it has no id")
        except (ValueError, TypeError, KeyError) as exc:
            raise StorageDamaged(
                f"{self.path} is damaged, so nobody knows which databases must be beside it. Put it back, from a "
                "backup if need be; or take what is beside it as it is: stop the server and run "
                f"`mnemoir doctor --begin-anew {IDENTITY_FILE}`."
            ) from exc
        return _Known(id=id, expected=frozenset(expected))

    def _write(self, change: Callable[[_Known], _Known], id: str | None = None) -> None:
        """Write the file anew, if that changes anything; a new one gets this `id`, or else a new one."""
        with self._lock, storage_errors(self.path, OSError), hold_folder_lock(self.path.parent):
            known = self._content()
            changed = change(known or _Known(id=id or uuid.uuid4().hex))
            if changed != known:
                with replacing(self.path) as file:
                    file.write(json.dumps({"id": changed.id, "expected": sorted(changed.expected)}).encode())
            self._known = changed
