"""Where the files of a discussion are."""

import os
import re
from pathlib import Path

from mnemoir.workflows.run import Turn

_FOREIGN = re.compile(r"[A-Za-z]:[\\/]|\\\\")  # how a path begins on Windows


def own_directory(named: str, base: Path, default: Path) -> Path:
    """The directory a configuration names, relative to `base`; `default` for none, or one of another system.

    A Windows path copied to another system would otherwise become an oddly named folder there. So would the home of a
    user who is not known here.
    """
    if not named.strip() or (os.name != "nt" and _FOREIGN.match(named)):
        return default
    place = os.path.expanduser(named)
    return default if place.startswith("~") else base / place


def discussion_root(turn: Turn, data_dir: Path) -> Path:
    """The directory of the user's discussions: the configured one, else `DiscussionIds` of the tree or of ours."""
    if turn.user is None:
        return data_dir / "discussions"
    public = turn.user.tree.public
    return own_directory(turn.user.settings.discussion_directory, public, public / "DiscussionIds")
