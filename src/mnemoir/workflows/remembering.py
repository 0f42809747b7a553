"""Memory in workflows: whether a workflow can use it, which answers become memories, and reading that fails no chat.

A client that switches memory on gets a notice if the answering workflow has no Recall or Remember node, nor may run a
workflow with one.
"""

from collections import deque
from collections.abc import Awaitable, Collection, Sequence
from typing import TypeVar

import structlog

from mnemoir.core.errors import KeyUnavailable, SettingsError, StorageUnavailable
from mnemoir.core.events import FinishReason
from mnemoir.core.memories import Origin
from mnemoir.core.messages import Message
from mnemoir.core.text import CONTEXT_MESSAGES, LONGEST_CONTEXT
from mnemoir.wire.app_prompts import document_in
from mnemoir.workflows.checking.survey import FilePosition
from mnemoir.workflows.checking.workflows import NodeAt, is_open, named_by
from mnemoir.workflows.config.tree import UserTree
from mnemoir.workflows.config.workflow import WorkflowDefinition
from mnemoir.workflows.run import Turn, last_user_message
from mnemoir.workflows.step import Step

_log = structlog.get_logger(__name__)
_KINDS = ("recall", "remember")
_LONGEST_OUTSIDE = 20_000  # characters of what one tool or document said
_ANYWHERE = FilePosition(file="")
COMPLETE_REASONS: Collection[FinishReason] = (
    "stop",
    "length",
)  # not "content_filter", which withholds the answer, nor "tool_calls", which is not the last one
T = TypeVar("T")


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


def answer_to_learn(turn: Turn) -> str | None:
    """The answer of a turn; None when no memories may be derived from the turn.

    "" for an answer that was cut: only the user's message is then a source of memories.
    """
    reason = turn.finished.reason if turn.finished else None
    answer = "".join(turn.answer).strip()
    if turn.is_refused or reason not in COMPLETE_REASONS or not (answer or turn.is_overlong):
        return None
    is_whole = reason == "stop" and not turn.is_overlong
    return answer if is_whole else ""


def outside_texts(messages: Sequence[Message], origins: Collection[Origin]) -> list[tuple[str, str]]:
    """What tools and documents of these origins said in the last turn, each with its origin; cut where it is long."""
    asked = last_user_message(messages) if origins else None
    if asked is None:
        return []
    found: list[tuple[Origin, str]] = [("document", document_in(messages[asked].text))]
    found += [("tool", message.text) for message in messages[asked + 1 :] if message.role == "tool"]
    return [(origin, text[:_LONGEST_OUTSIDE]) for origin, text in found if origin in origins and text.strip()]


def texts_before(messages: Sequence[Message]) -> list[tuple[str, str]]:
    """What user and assistant said just before the last turn, each with its role; of a long text the end."""
    asked = last_user_message(messages)
    before = [one for one in messages[:asked] if one.role in ("user", "assistant") and one.text.strip()]
    return [(one.role, one.text[-LONGEST_CONTEXT:]) for one in before[-CONTEXT_MESSAGES:]]


async def read_or(step: Step, reading: Awaitable[T], nothing: T) -> T:
    """The result of `reading`; `nothing`, with a note in the trace, while memory cannot be read or written.

    Raises KeyUnavailable: memory under another key would seem to be empty.
    """
    try:
        return await reading
    except KeyUnavailable:
        raise
    except StorageUnavailable as exc:
        step.note(f"Memory was left out: {exc.message}")
        _log.warning("discussion memory not read", node=step.definition.title, code=exc.code)
        return nothing
