"""Which users' files of conversations must be there, as the rows of their scopes say; known for folders in use."""

from pathlib import Path

from mnemoir.chats.conversation_folders import place_of
from mnemoir.core.data_directory import SESSIONS_FILE
from mnemoir.core.scope import Scope
from mnemoir.storage.databases import DirectoryIdentity, Membership
from mnemoir.storage.sql.conversation_marks import ConversationMarks

_MOST_KNOWN = 10_000


class ExpectedFolders:
    """A folder of which nothing is known is expected to have its file. Raises StorageUnavailable."""

    def __init__(self, marks: ConversationMarks, identity: DirectoryIdentity) -> None:
        self._marks = marks
        self._identity = identity
        self._marked: set[Path] = set()
        self._new: set[Path] = set()  # those that are known to be unmarked

    def membership(self, folder: Path) -> Membership:
        """What the file in a folder must be."""
        return Membership(
            name=self._identity.name_of(folder / SESSIONS_FILE),
            directory=lambda: self._identity.id,
            is_expected=lambda: folder not in self._new,
            owner=place_of(folder),
        )

    async def learn(self, folder: Path, scope: Scope) -> None:
        """Look up whether the file in the folder of a user must be there, before it is opened."""
        if folder in self._marked or folder in self._new:
            return
        if len(self._marked) >= _MOST_KNOWN:
            self._marked.clear()
        (self._marked if await self._marks.has(scope) else self._new).add(folder)

    async def expect(self, folder: Path, scope: Scope) -> None:
        """Note that the file must be there from now on; before its first message."""
        if folder in self._new:
            await self._marks.put(scope)
            self._marked.add(folder)
            self._new.discard(folder)

    async def release(self, folder: Path, scope: Scope) -> None:
        """Note that there need be none, before it is removed."""
        await self._marks.drop(scope)
        self._marked.discard(folder)
        self._new.add(folder)

    def unlearn(self, *folders: Path) -> None:
        """Look them up again the next time."""
        self._marked.difference_update(folders)
        self._new.difference_update(folders)

    async def refuse_absence(self, folder: Path, scope: Scope) -> None:
        """Raise StorageDamaged when the folder, which is not there, must be."""
        if await self._marks.has(scope):
            raise self.membership(folder).loss_error(folder / SESSIONS_FILE, "is missing")

    async def marked_scopes(self) -> list[Scope]:
        """All whose file must be there."""
        return [*await self._marks.all()]
