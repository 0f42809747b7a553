"""WorkflowLock: lets only one run at a time pass this node; any other run ends here, with its answer so far.

The lock belongs to the run of the workflow with this node, and the engine releases it when that run ends.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from mnemoir.core.errors import StorageUnavailable
from mnemoir.workflows.config.model import Line
from mnemoir.workflows.discussion_files import owner_name
from mnemoir.workflows.lock_files import lock_file, lock_folder
from mnemoir.workflows.node import NodeProperties, ValueNode
from mnemoir.workflows.step import Step, WorkflowEnded


class WorkflowLockProperties(NodeProperties):
    """Properties of a WorkflowLock node."""

    lock: Line = Field(alias="workflowLockId", description="Runs that name the same lock exclude each other.")


class WorkflowLock(ValueNode[WorkflowLockProperties]):
    """Acquires a lock for the run, or ends the run. Its output is None."""

    kind: ClassVar[str] = "WorkflowLock"
    properties_type: ClassVar[type[NodeProperties]] = WorkflowLockProperties
    filled: ClassVar[Sequence[str]] = ("workflowLockId",)

    async def value(self, step: Step) -> None:
        """Acquire the lock. Raises WorkflowEnded if it is held, StorageUnavailable if no database can be opened."""
        lock = step.fill(self.properties.lock)
        if not await self._acquire(step, lock):
            raise WorkflowEnded(f"lock {lock!r} is held")

    async def _acquire(self, step: Step, lock: str) -> bool:
        """Acquire the lock in the folder of the settings, else of the user; in the server's own if that fails."""
        own = self.services.data_dir
        folder = self._folder(step)
        if folder != own:
            try:
                return await self._take(step, folder, lock)
            except StorageUnavailable as exc:
                step.note(f"{exc.message} The lock is kept in {own} instead.")
        return await self._take(step, own, lock)

    async def _take(self, step: Step, folder: Path, lock: str) -> bool:
        database = lock_file(folder, step.run.turn.user)
        owner = step.run.turn.caller.scope.owner  # locks are apart as discussions are
        name = lock if self.services.discussion_places.is_of_nobody(owner) else f"{lock} {owner_name(owner)}"
        taken = await self.services.locks.acquire(database, name, run=step.run.id)
        if taken:
            step.run.lock_database = database
        return taken

    def _folder(self, step: Step) -> Path:
        user, own, chosen = step.run.turn.user, self.services.data_dir, self.services.lock_directory
        folder = lock_folder(user, own, chosen)
        named = "" if user is None or chosen is not None else user.settings.lock_directory
        if folder == own and named.strip():
            step.note(f"sqlLiteDirectory {named!r} cannot be used here; locks are kept in {own}.")
        return folder
