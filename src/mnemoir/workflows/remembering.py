"""Whether a workflow can remember: it has a Recall or a Remember, or may run a workflow that has one.

A client that switches memory on is told when the workflow that answers has no such node.
"""

from collections import deque
from collections.abc import Sequence

from mnemoir.core.errors import SettingsError
from mnemoir.workflows.checking.problem import FilePosition
from mnemoir.workflows.checking.workflows import NodeAt, is_open, named_by
from mnemoir.workflows.config.tree import UserTree
from mnemoir.workflows.config.workflow import WorkflowDefinition

_KINDS = ("recall", "remember")
_ANYWHERE = FilePosition(file="")


def can_remember(workflow: WorkflowDefinition, user: UserTree | None) -> bool:
    """False only where no node can be reached from the files; names that are known at run time alone count as True.

    `user` is whose folders the names of workflows are looked up in, None for the built-in workflow. A file that is
    missing or broken has no nodes.
    """
    waiting, known = deque([workflow]), {(workflow.folder, workflow.name)}
    while waiting:
        current = waiting.popleft()
        if any(node.type.lower() in _KINDS for node in current.nodes):
            return True
        called = _called_by(current, user) if user is not None else []
        if called is None:
            return True
        # by name: a file that was written a moment ago is read anew each time, and a circle must end
        waiting += (one for one in called if (one.folder, one.name) not in known)
        known |= {(one.folder, one.name) for one in called}
    return False


def _called_by(workflow: WorkflowDefinition, user: UserTree) -> Sequence[WorkflowDefinition] | None:
    """The workflows that its nodes name; None where a name is known at run time only."""
    found = []
    for node in workflow.nodes:
        for name in named_by(NodeAt(place=_ANYWHERE, number=node.number, raw=node.raw), user.settings):
            if is_open(name.name) or is_open(name.folder):
                return None
            try:
                found.append(user.workflow(name.name, name.folder))
            except SettingsError:
                continue
    return found
