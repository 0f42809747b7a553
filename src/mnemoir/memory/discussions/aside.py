"""Temporary discussions beside another one, used while that is rebuilt or imported, under a reserved name.

No client can use such a name (`core.discussion_id.is_allowed`), so no client reads or writes them.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, get_args

from mnemoir.core.discussions import Discussion
from mnemoir.ports.discussions import DiscussionFiles

Purpose = Literal["rebuild", "import"]


def aside(discussion: Discussion, purpose: Purpose) -> Discussion:
    """The temporary discussion for a purpose: always the same, so that leftovers of a killed process are found."""
    return replace(discussion, id=f"{purpose}\0{discussion.id}", legacy=None)


def asides(discussion: Discussion) -> Sequence[Discussion]:
    """All temporary discussions that may exist beside it."""
    return [aside(discussion, purpose) for purpose in get_args(Purpose)]


async def remove_asides(files: DiscussionFiles, discussion: Discussion) -> None:
    """Remove what interrupted rebuilds and imports have left. Call only under `files.making(discussion)`."""
    for beside in asides(discussion):
        await files.remove(beside)
