"""Discussions that stand aside of another while it is made anew or imported: parts of it, under another name.

The name is one that no client can give a discussion (`core.discussion_id.is_allowed`), so none reads or
writes them.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, get_args

from mnemoir.core.discussions import Discussion
from mnemoir.ports.discussions import DiscussionFiles

Purpose = Literal["rebuild", "import"]


def aside(discussion: Discussion, purpose: Purpose) -> Discussion:
    """Always the same one, so that what a killed process left in it is found again."""
    return replace(discussion, id=f"{purpose}\0{discussion.id}", legacy=None)


def asides(discussion: Discussion) -> Sequence[Discussion]:
    """All that may stand aside of it."""
    return [aside(discussion, purpose) for purpose in get_args(Purpose)]


async def remove_asides(files: DiscussionFiles, discussion: Discussion) -> None:
    """Take away what rebuilds and imports that were broken off have left. Only under `files.making(discussion)`."""
    for beside in asides(discussion):
        await files.remove(beside)
