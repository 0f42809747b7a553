"""Saving of workflow files from a browser: only sound ones, never other files, and the version before is kept.

Off unless `workflows.edit` is set. A text is saved in place of the one it was made from, told by its digest. What
reaches out of a workflow, into files and Python modules, is neither added nor changed here.
"""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mnemoir.core.errors import Forbidden, InvalidRequest, NotFound
from mnemoir.storage.files.tree_files import TreeFiles, changed_meanwhile
from mnemoir.storage.user_pool import in_thread
from mnemoir.trees.served import Served
from mnemoir.trees.workflow_files import ConfigProblems, WorkflowFiles, discussion_settings, problems_for_display
from mnemoir.workflows.checking import Edit, Outside, Problem, check_edit
from mnemoir.workflows.config.lookup import EXTENSION
from mnemoir.workflows.config.shown import ConfigText, check_path, config_text, kind_of
from mnemoir.workflows.config.tree import ConfigTree
from mnemoir.workflows.graph import user_of
from mnemoir.workflows.node import node_types

OFF = (
    "Saving is off. Set workflows.edit: true in mnemoir.yaml (MNEMOIR_WORKFLOWS__EDIT=true in the environment), and "
    "start the server again."
)
_NO_TREE = "The built-in workflow cannot be changed. Start the server with --config-dir."
_MOST_TOLD = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedWorkflow:
    """A file as it was saved, with the warnings of its check."""

    file: ConfigText
    warnings: Sequence[Problem]


class WorkflowEdits:
    """Saves workflow files of the served tree, one at a time."""

    def __init__(
        self, files: WorkflowFiles, served: Served | None, outside: Outside, data_dir: Path, *, is_on: bool
    ) -> None:
        self._files = files
        self._served = served
        self._outside = outside
        self._disk = None if served is None else TreeFiles(served.tree.root, data_dir)
        self._is_on = is_on
        self._saving = asyncio.Lock()

    @property
    def refusal(self) -> str:
        """The reason why nothing is saved here; "" when saving is on."""
        if not self._is_on:
            return OFF
        return _NO_TREE if self._served is None else ""

    async def text(self, path: str) -> ConfigText:
        """The text of a file, as from `WorkflowFiles.text`, and whether an earlier version can be restored."""
        found = await self._files.text(path)
        is_ours = not self.refusal and found.kind == "workflows"
        return replace(found, has_kept=await in_thread(self._has_kept, found)) if is_ours else found

    async def check_path(self, path: str) -> None:
        """Raise Forbidden where nothing of that path is saved, InvalidRequest for a path that no file can have."""
        await in_thread(self._check_path, path)

    async def check(self, path: str, text: str) -> ConfigProblems:
        """What keeps this text from being saved, as errors, and the warnings of its check."""
        await self.check_path(path)
        return problems_for_display(await self._problems(path, await in_thread(self._read, path), text.encode()))

    async def save(self, path: str, text: str, digest: str | None) -> SavedWorkflow:
        """Save the text in place of the one of that digest; with None as a new file.

        Raises Conflict (`changed_meanwhile`) where another one is stored, InvalidRequest (`check_failed`) for
        problems, Forbidden for what is not saved here, StorageUnavailable.
        """
        return await self._save(path, text.encode(), digest)

    async def earlier_version(self, path: str) -> ConfigText:
        """The file before its last saved edit, with secrets covered. Raises NotFound without one."""
        await self.check_path(path)
        return config_text(path, await in_thread(self._earlier_bytes, path))

    async def restore(self, path: str, digest: str | None) -> SavedWorkflow:
        """Save the earlier version in place of the text of that digest, which is kept in turn. Raises like `save`."""
        await self.check_path(path)
        content = await in_thread(self._earlier_bytes, path)
        return await self._save(path, content, digest, may_hold_cover=True)

    async def _save(
        self, path: str, content: bytes, digest: str | None, *, may_hold_cover: bool = False
    ) -> SavedWorkflow:
        await self.check_path(path)
        async with self._saving:
            before = await in_thread(self._read, path)
            stored = None if before is None else config_text(path, before).digest
            if stored != digest:
                raise changed_meanwhile(path)
            problems = await self._problems(path, before, content, may_hold_cover=may_hold_cover)
            errors = [one for one in problems if one.level == "error"]
            if errors:
                raise InvalidRequest(_text_of_errors(path, errors), code="check_failed")
            was_sound = before is not None and await self._is_sound(path)
            await in_thread(self._write, path, before, content, keeps=was_sound)
        return SavedWorkflow(file=await self.text(path), warnings=problems_for_display(problems).problems)

    def _write(self, path: str, before: bytes | None, content: bytes, *, keeps: bool) -> None:
        assert self._disk is not None
        if keeps and before is not None and before != content:
            self._disk.keep(path, before)
        self._disk.replace(path, content, before=before)

    async def _problems(
        self, path: str, before: bytes | None, after: bytes, *, may_hold_cover: bool = False
    ) -> Sequence[Problem]:
        """The problems of the file with its next content, and the errors that it brings to other files."""
        assert self._served is not None
        place = os.path.join(str(self._served.tree.root), *path.split("/"))
        edit = Edit(place=place, before=before, after=after, may_hold_cover=may_hold_cover)
        known = {(one.file, one.path, one.cause) for one in (await self._files.problems()).problems}
        found = problems_for_display(await in_thread(self._problems_of_edit, path, edit)).problems
        return [
            one
            for one in found
            if one.file == path or (one.level == "error" and (one.file, one.path, one.cause) not in known)
        ]

    def _problems_of_edit(self, path: str, edit: Edit) -> Sequence[Problem]:
        assert self._served is not None
        tree = ConfigTree(self._served.tree.root)
        user = user_of(path, self._files.sound_users(tree))
        return check_edit(tree, node_types(), self._outside, user, edit)

    async def _is_sound(self, path: str) -> bool:
        found = (await self._files.problems()).problems
        return not any(one.file == path and one.level == "error" for one in found)

    def _read(self, path: str) -> bytes | None:
        assert self._disk is not None
        return self._disk.read(path)

    def _earlier_bytes(self, path: str) -> bytes:
        assert self._disk is not None
        found = self._disk.kept_version(path)
        if found is None:
            raise NotFound(f"No earlier version of {path} is kept.", code="no_kept_version")
        return found

    def _has_kept(self, file: ConfigText) -> bool:
        """True when the kept version is another one than the present."""
        assert self._disk is not None
        found = self._disk.kept_version(file.path)
        return found is not None and config_text(file.path, found).text != file.text

    def _check_path(self, path: str) -> None:
        if reason := self.refusal:
            raise Forbidden(reason, code="editing_off")
        check_path(path)
        assert self._served is not None
        is_settings = path in discussion_settings(ConfigTree(self._served.tree.root))
        if kind_of(path) != "workflows" or not path.endswith(EXTENSION) or is_settings:
            raise Forbidden(
                f"{path} is not saved from a browser: only workflows are, files ending with {EXTENSION} below "
                "Workflows. Change it on the server's disk.",
                code="not_editable",
            )


def _text_of_errors(path: str, errors: Sequence[Problem]) -> str:
    told = " ".join(f"{one.file} {one.path}: {one.cause} {one.fix}" for one in errors[:_MOST_TOLD])
    more = f" And {len(errors) - _MOST_TOLD} more." if len(errors) > _MOST_TOLD else ""
    return f"{path} was not saved: its check finds errors. {told}{more}"
