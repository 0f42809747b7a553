"""One project's file with its contents in memory, and the rules for replacing them.

Readers compare the file's stamp and use the contents as they are. A writer makes the next contents, writes the file,
then the side tables, and only then publishes: until that moment readers that see the new file's stamp continue with
the old contents, because the change is not acknowledged yet. A stamp that this process did not write means that
another program did, and the file is read again, as a new epoch.
"""

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from mnemoir.core.atomic_file import Stamp
from mnemoir.ports.memory_store import Project
from mnemoir.storage.files.contents import Contents, EntryOf, contents_of
from mnemoir.storage.files.project_file import ProjectFile

_MOST_PROJECTS = 256
_MOST_MEMORIES = 200_000  # about 3 KB each


class OpenProject:
    """One open project. The writer of the file or its side tables holds `writing`; all other methods block."""

    def __init__(self, root: Path, project: Project) -> None:
        self.project = project
        self.file = ProjectFile(root, project)
        self.writing = asyncio.Lock()
        self._loading = threading.Lock()
        self._contents: Contents | None = None
        self._announced: Stamp | None = None

    @property
    def memory_count(self) -> int:
        """The number of memories held in memory."""
        contents = self._contents
        return 0 if contents is None else len(contents.items)

    def current(self, entries: Callable[[], EntryOf]) -> Contents:
        """The file's contents; `entries` is called only when it must be read. Raises StorageUnavailable."""
        contents = self._if_current()
        if contents is not None:
            return contents
        with self._loading:
            contents = self._if_current()
            if contents is None:
                contents = self._contents = self._read(entries)
            return contents

    def announce(self, stamp: Stamp) -> None:
        """Announce a new file of this stamp, which readers must not load yet."""
        self._announced = stamp

    def publish(self, contents: Contents) -> None:
        """Make the contents visible to readers."""
        with self._loading:
            self._contents, self._announced = contents, None

    def forget(self) -> None:
        """Drop the contents; the next access reads the file again."""
        with self._loading:
            self._contents, self._announced = None, None

    def _read(self, entries: Callable[[], EntryOf]) -> Contents:
        content, held = self.file.read(), self._contents
        if held is not None and held.is_of(content):
            return replace(held, stamp=content.stamp)
        return contents_of(content, entries())

    def _if_current(self) -> Contents | None:
        stamp = self.file.stamp()
        contents = self._contents  # after the stamp: a change published in between is detected below
        if contents is None:
            return None
        announced = self._announced
        is_announced = stamp is not None and announced is not None and stamp.is_renamed(announced)
        return contents if stamp == contents.stamp or is_announced else None


class OpenProjects:
    """Open projects by name; the least recently used are dropped when they hold too many memories."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._open: OrderedDict[Project, OpenProject] = OrderedDict()
        self._guard = threading.Lock()

    def __getitem__(self, project: Project) -> OpenProject:
        """The open project. Raises InvalidRequest for a name that is not allowed. Thread-safe."""
        with self._guard:
            found = self._open.get(project)
            if found is None:
                found = self._open[project] = OpenProject(self._root, project)
                self._let_go()
            self._open.move_to_end(project)
            return found

    def _let_go(self) -> None:
        held = sum(project.memory_count for project in self._open.values())
        for name, project in list(self._open.items())[:-1]:
            if len(self._open) <= _MOST_PROJECTS and held <= _MOST_MEMORIES:
                return
            if not project.writing.locked():
                held -= project.memory_count
                del self._open[name]
