"""Test whether a workflow can use memory: it has a Recall or Remember node, or may run a workflow with one.

A client that switches memory on gets a notice if the answering workflow has no such node.
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
    """True when a memory node can be reached, or may be: names known only at run time count as True.

    Names of workflows are looked up in the folders of `user`, None for the built-in workflow. A missing or broken
    file counts as one without nodes.
    """
    waiting, known = deque([workflow]), {(workflow.folder, workflow.name)}
    while waiting:
        current = waiting.popleft()
        if any(node.type.lower() in _KINDS for node in current.nodes):
            return True
        called = _called_by(current, user) if user is not None else []
        if called is None:
            return True
        # by name: a recently written file is a new object each time it is read, and a circle must end
        waiting += (one for one in called if (one.folder, one.name) not in known)
        known |= {(one.folder, one.name) for one in called}
    return False


def _called_by(workflow: WorkflowDefinition, user: UserTree) -> Sequence[WorkflowDefinition] | None:
    """The workflows that its nodes name; None if a name is known only at run time."""
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
