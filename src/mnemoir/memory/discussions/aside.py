"""Discussions that stand aside of another while it is made anew or imported: parts of it, under another name."""

from dataclasses import replace
from typing import Literal

from mnemoir.core.discussions import Discussion
from mnemoir.ports.discussions import DiscussionFiles

Purpose = Literal["rebuild", "import"]


def aside(discussion: Discussion, purpose: Purpose) -> Discussion:
    """Always the same one, so that what a killed process left in it is found again."""
    return replace(discussion, id=f"%{purpose} {discussion.id}", legacy=None)


async def remove_asides(files: DiscussionFiles, discussion: Discussion) -> None:
    """Take away what rebuilds and imports that were broken off have left. Only under `files.making(discussion)`."""
    await files.remove(aside(discussion, "rebuild"))
    await files.remove(aside(discussion, "import"))
