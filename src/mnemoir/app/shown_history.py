"""Selects the messages of a stored conversation that a model sees, instead of or beside the client's messages."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mnemoir.agent.retrieval import RecalledMessage
from mnemoir.conversations.attachments.attachments import Attachments
from mnemoir.conversations.log.model_messages import to_model
from mnemoir.conversations.memory_manager import MemoryManager
from mnemoir.conversations.users import OwnConversations
from mnemoir.conversations.windows.counters import CHARS4
from mnemoir.conversations.windows.fitting import fit
from mnemoir.conversations.windows.strategies.strategy import stored_window
from mnemoir.core import messages as core
from mnemoir.core.conversations import Message, messages_of
from mnemoir.core.discussion_id import without_tags
from mnemoir.core.fence import RecalledLine, put_up
from mnemoir.core.messages import ChatRequest
from mnemoir.ports.log import Log
from mnemoir.wire.app_prompts import without_frame
from mnemoir.workflows.run import RecordedTurn, last_user_message

INSTRUCTIONS = ("system", "developer", "systemMes")  # roles of instructions, which are no part of the conversation
_MOST_OF_A_BRANCH = 1000  # messages
_MOST_IN_A_TURN = 64  # messages before a tool's result that are searched for its question


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownHistory:
    """The system prompt of a stored conversation and its window, which ends with the new messages."""

    prompt: str
    window: Sequence[Message]


def shown_history(rows: Log, manager: MemoryManager, turn: RecordedTurn, new: Sequence[Message]) -> ShownHistory:
    """The history that ends with the `new` messages.

    New messages are never cut away, however many tokens they have. Where another request has moved the thread to
    another branch since, the newest messages of this one are shown. Blocks: a strategy may ask a model for a summary.
    """
    record = rows.get_session(turn.conversation_id)
    window = _window(rows, manager, turn, new) or _newest_turn(rows, turn, new)
    return ShownHistory(prompt=record.system_prompt if record else "", window=window)


def messages_shown(own: OwnConversations, history: ShownHistory, sent: Sequence[core.Message]) -> list[core.Message]:
    """The client's system messages, or else the stored prompt, then the window. Blocks: reads attachments.

    The user's newest message is shown as it was sent, with the documents that an app put around it.
    """
    system = [one for one in sent if one.role in INSTRUCTIONS]
    if not system and history.prompt:
        system = [core.text_message("system", history.prompt)]
    shown = to_model(Attachments(own.node_parts.objects).bring_back(history.window))
    return [*system, *_with_documents(shown, sent)]


def with_recalled(chat: ChatRequest, recalled: Sequence[RecalledMessage]) -> ChatRequest:
    """The chat with recalled messages before its last question, without those that it holds already.

    They stand within the memory fence, which is removed again before anything is learned from the question.
    """
    messages = list(chat.request.messages)
    place = last_user_message(messages)
    present = {(one.role, without_frame(one).text) for one in messages}
    lines = [RecalledLine(text=one.line) for one in recalled if (one.message.role, one.message.text) not in present]
    if not lines or place is None:
        return chat
    messages[place] = core.with_text_in_front(messages[place], put_up(lines, ""))
    return replace(chat, request=replace(chat.request, messages=messages))


def _with_documents(shown: list[core.Message], sent: Sequence[core.Message]) -> list[core.Message]:
    """The messages shown with the user's newest one in its document frame, where it was sent in one."""
    asked, place = last_user_message(sent), last_user_message(shown)
    if asked is None or place is None:
        return shown
    framed = without_tags(sent[asked])
    question = without_frame(framed)
    if question is framed or question.text != shown[place].text:
        return shown
    return [*shown[:place], framed, *shown[place + 1 :]]


def _window(rows: Log, manager: MemoryManager, turn: RecordedTurn, new: Sequence[Message]) -> Sequence[Message]:
    """The window up to the new messages, without later ones of another request; [] when it does not hold them."""
    session_id, budget = turn.conversation_id, manager.max_history_tokens
    window = stored_window(manager.strategy, rows, session_id, budget)
    end = next((at + 1 for at, one in enumerate(window) if one.id == turn.message_id and not one.made), 0)
    if not end:
        stored = rows.messages_by_id([turn.message_id]).get(turn.message_id)
        if stored is not None and not stored.is_on_thread:
            way = rows.way_to(session_id, turn.message_id, _MOST_OF_A_BRANCH)
            return fit(messages_of(reversed(way)), budget, CHARS4)
    shown = messages_of(window[:end])
    return shown if _words(shown[-len(new) :]) == _words(new) else []


def _newest_turn(rows: Log, turn: RecordedTurn, new: Sequence[Message]) -> Sequence[Message]:
    """The new messages, preceded by the question and call when they begin with a tool's result."""
    if new[0].role != "tool":
        return new
    way = rows.way_to(turn.conversation_id, turn.message_id, len(new) + _MOST_IN_A_TURN)
    recent = messages_of(reversed(way))
    start = next((at for at in range(len(recent) - len(new), 0, -1) if recent[at].role == "user"), 0)
    return recent[start:] or new


def _words(messages: Sequence[Message]) -> list[tuple[str, str]]:
    return [(one.role, one.text) for one in messages]
