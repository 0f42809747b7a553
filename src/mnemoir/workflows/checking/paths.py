"""Checks of paths in a tree: those of file nodes, and the directory of discussions."""

import os
import tempfile
from collections.abc import Mapping

from mnemoir.workflows.checking.nodes import type_name
from mnemoir.workflows.checking.problem import FilePosition, Level
from mnemoir.workflows.checking.survey import Survey
from mnemoir.workflows.checking.workflows import NodeAt, is_open
from mnemoir.workflows.config.user import UserSettings
from mnemoir.workflows.discussion_files import DISCUSSIONS, own_directory

# by node type: a chat continues without a file that cannot be read, and fails at one that must not be written
_LEVELS: Mapping[str, Level] = {"getcustomfile": "warning", "savecustomfile": "error"}


def check_discussion_directory(survey: Survey, place: FilePosition, settings: UserSettings) -> None:
    """Report a directory of discussions that can be neither created nor written. Leaves no file behind."""
    public = survey.tree.public
    directory = own_directory(settings.discussion_directory, public, public / DISCUSSIONS)
    if survey.outside is None or survey.outside.discussion_directory or directory == public / DISCUSSIONS:
        return
    existing = next(path for path in (directory, *directory.parents) if os.path.lexists(path))
    try:
        with tempfile.TemporaryFile(dir=existing):  # permission bits do not suffice: the root user has them all
            return
    except OSError as exc:
        cause = f"Memories of discussions are lost: {directory} cannot be created or written ({exc.strerror or exc})."
    survey.report(place, cause, f"Name a directory that the server may write, or none to use {public / DISCUSSIONS}.")


def check_path(survey: Survey, node: NodeAt) -> None:
    """Report a path without variables that file nodes may not read or write."""
    level, path = _LEVELS.get(type_name(node.raw)), node.raw.get("filepath")
    if level is None or survey.outside is None or not isinstance(path, str) or not path.strip() or is_open(path):
        return
    if refusal := survey.outside.user_files.refusal(path.strip()):
        survey.report(node.place / "filepath", refusal.cause, refusal.fix, level)
