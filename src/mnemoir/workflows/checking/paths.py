"""Whether file nodes may reach the files that they name, as far as a workflow's text tells."""

from collections.abc import Mapping

from mnemoir.workflows.checking.nodes import type_name
from mnemoir.workflows.checking.problem import Level
from mnemoir.workflows.checking.survey import Survey
from mnemoir.workflows.checking.workflows import NodeAt, is_open

# by node type: a chat goes on without a file that is not read, and ends at one that may not be written
_LEVELS: Mapping[str, Level] = {"getcustomfile": "warning", "savecustomfile": "error"}


def check_path(survey: Survey, node: NodeAt) -> None:
    """A path without variables that no file node may ever read or write."""
    level, path = _LEVELS.get(type_name(node.raw)), node.raw.get("filepath")
    if level is None or survey.user_files is None or not isinstance(path, str) or not path.strip() or is_open(path):
        return
    if refusal := survey.user_files.refusal(path.strip()):
        survey.tell(node.place / "filepath", refusal.cause, refusal.fix, level)
