"""What is stored of a chat: what is new of the messages a client sent, and the answer behind them. All blocks."""

from collections.abc import Sequence
from dataclasses import dataclass

from mnemoir.app.shown_history import INSTRUCTIONS
from mnemoir.conversations.attachments.attachments import Attachments
from mnemoir.conversations.log.messages import Message
from mnemoir.conversations.log.model_messages import from_model, read_call
from mnemoir.conversations.log.sessions import ROOT, MessageNotFoundError
from mnemoir.conversations.users import OwnConversations
from mnemoir.core import messages as core
from mnemoir.core.discussion_id import without_tags
from mnemoir.core.errors import InvalidRequest
from mnemoir.core.gathering import Gathering
from mnemoir.wire.app_prompts import without_frame
from mnemoir.workflows.run import RecordedTurn

INCOMPLETE = "incomplete"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a request says that its messages belong: behind a stored one, or all of them behind the head."""

    parent_id: int | None
    sends_new_only: bool


class UnknownParent(InvalidRequest):
    """The conversation has no message of that id."""


def said(sent: Sequence[core.Message]) -> list[Message]:
    """The messages of a request as conversations hold them: without instructions, and without document frames.

    So a question is the same message when a client sends it again without the documents that came with it.
    """
    return [from_model(without_frame(without_tags(one))) for one in sent if one.role not in INSTRUCTIONS]


def store_question(
    own: OwnConversations, session_id: str, *, history: Sequence[Message], prompt: str, place: Place
) -> tuple[RecordedTurn, Sequence[Message]]:
    """What is stored of the chat, and the messages that are new of it: the last one at least."""
    attachments, manager = Attachments(own.node_parts.objects), own.manager
    if place.parent_id is not None:
        _check_parent(own, session_id, place.parent_id)  # before a file is put away for it
        history = _behind_the_last_answer(history)
    history = [attachments.put_away(message, session_id) for message in history]
    # a request that asks for the stored window sends new messages; one with an answer in it, a history
    is_new = place.sends_new_only and all(one.role != "assistant" for one in history)
    if place.parent_id is None and is_new and not _waits_for_its_answer(own, session_id, history):
        added = ids = manager.append_messages(session_id, history, system_prompt=prompt)
    else:
        resumed = manager.resume_history(session_id, history, parent_id=place.parent_id, system_prompt=prompt)
        ids, added = resumed.ids, resumed.added
    turn = RecordedTurn(conversation_id=session_id, message_id=ids[-1])
    return turn, history[len(history) - max(1, len(added)) :]


def _check_parent(own: OwnConversations, session_id: str, parent_id: int) -> None:
    if parent_id != ROOT and own.manager.get_message(session_id, parent_id) is None:
        raise UnknownParent(
            f"The conversation {session_id[:80]!r} has no message {parent_id}, which parent_id names. Its messages "
            "are listed by GET /api/conversations/{id}/messages; 0 is the beginning.",
            field="parent_id",
        )


def _behind_the_last_answer(history: Sequence[Message]) -> Sequence[Message]:
    """What a request says anew: a question, or the results of tools; of one that ends with an answer this answer."""
    start = max((at + 1 for at, one in enumerate(history[:-1]) if one.role == "assistant"), default=0)
    return history[start:]


def _waits_for_its_answer(own: OwnConversations, session_id: str, new: Sequence[Message]) -> bool:
    """Whether the thread ends with these very messages: then they are sent once more, and not said once more."""
    newest = own.manager.thread(session_id, len(new))
    said = [(stored.message.role, stored.message.text) for stored in reversed(newest)]
    return said == [(one.role, one.text) for one in new]


def store_answer(own: OwnConversations, turn: RecordedTurn, gathering: Gathering, run_id: str) -> bool:
    """Whether the conversation is still there. An answer without a word and without a call is none."""
    reply = gathering.so_far()
    if not (reply.words or reply.tool_calls):
        return own.manager.get_message(turn.conversation_id, turn.message_id) is not None
    calls = [read_call(call) for call in reply.tool_calls]
    answer = Message("assistant", reply.words or None, calls or None)
    reason = reply.reason if gathering.is_finished else INCOMPLETE
    try:
        own.manager.append_messages(
            turn.conversation_id, [answer], parent_id=turn.message_id, run_id=run_id, finish_reason=reason
        )
    except MessageNotFoundError:
        return False
    return True
