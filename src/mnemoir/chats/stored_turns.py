"""Stores the turns of a chat, the new messages of the client and then the answer, and selects the history to show.

All functions block.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat

from mnemoir.agent.retrieval import RecalledMessage
from mnemoir.conversations.attachments.attachments import Attachments
from mnemoir.conversations.log.message_rows import from_model, read_call, record_of, to_model
from mnemoir.conversations.memory_manager import MemoryManager
from mnemoir.conversations.users import OwnConversations
from mnemoir.conversations.windows.counters import CHARS4
from mnemoir.conversations.windows.fitting import borders, fit
from mnemoir.conversations.windows.strategies.tail import SimpleStrategy, stored_window, tail_of, with_closed_calls
from mnemoir.core import messages as core
from mnemoir.core.conversations import HEAD, ROOT, Message, MessageNotFoundError, StoredMessage, messages_of
from mnemoir.core.discussion_id import without_tags
from mnemoir.core.errors import InvalidRequest
from mnemoir.core.events import Reply
from mnemoir.core.messages import ChatRequest
from mnemoir.core.text import RecalledLine, put_up
from mnemoir.ports.log import Log
from mnemoir.ports.recalled import KeptRecall, read_references, references_as_json
from mnemoir.wire.agents.frames import is_of_agent, is_summary
from mnemoir.wire.app_prompts import question_in, typed_text, without_frame
from mnemoir.workflows.run import RecordedTurn, last_user_message

INSTRUCTIONS = frozenset({"system", "developer", "systemMes"})
"""The roles of instructions, which are no part of the conversation."""
_MOST_OF_A_BRANCH = 1000  # messages
_PAGE = 64  # messages
INCOMPLETE = "incomplete"
PERSONAL_DATA = "personal_data"  # the member of a session's metadata that lists the kinds in it


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownHistory:
    """The system prompt of a stored conversation and its window, which ends with the new messages.

    `uids` are those of the window's messages where what was recalled for them counts, None for others.
    """

    prompt: str
    window: Sequence[Message]
    uids: Sequence[str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMessages:
    """The new messages of a request, and the uids of those of which they are known."""

    messages: Sequence[Message]
    uids: Sequence[str | None]


def shown_history(rows: Log, manager: MemoryManager, turn: RecordedTurn, new: NewMessages) -> ShownHistory:
    """The history that ends with the `new` messages.

    New messages are never cut away, however many tokens they have. Where another request has moved the thread to
    another branch since, the newest messages of this one are shown. Blocks: a strategy may ask a model for a summary.
    """
    record = rows.get_session(turn.conversation_id)
    window = _window(rows, manager, turn, new.messages) or _newest_turn(rows, manager, turn, new)
    return ShownHistory(
        prompt=record.system_prompt if record else "",
        window=messages_of(window),
        uids=[None if one.made or turn.recalled is None else one.uid for one in window],
    )


def window_for_model(
    own: OwnConversations, history: ShownHistory, sent: Sequence[core.Message]
) -> list[core.Message]:
    """The client's system messages, or else the stored prompt, then the window. Blocks: reads attachments.

    The user's newest message is shown as it was sent, with the documents that an app put around it.
    """
    system = [one for one in sent if one.role in INSTRUCTIONS]
    if not system and history.prompt:
        system = [core.text_message("system", history.prompt)]
    window = Attachments(own.node_parts.objects).bring_back(history.window)
    shown = [
        one if uid is None else replace(one, uid=uid)
        for message, uid in zip(window, history.uids, strict=True)
        for one in to_model([message])
    ]
    return [*system, *_with_documents(shown, sent)]


def with_recalled_messages(chat: ChatRequest, recalled: Sequence[RecalledMessage]) -> ChatRequest:
    """The chat with recalled messages before its last question, without those that it holds already.

    They stand within the memory fence, which is removed again before anything is learned from the question.
    """
    if not recalled:  # what the messages say is worked out in milliseconds
        return chat
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
    return [*shown[:place], replace(framed, uid=shown[place].uid), *shown[place + 1 :]]


def _window(rows: Log, manager: MemoryManager, turn: RecordedTurn, new: Sequence[Message]) -> Sequence[StoredMessage]:
    """The window up to the new messages, without later ones of another request; [] when it does not hold them."""
    session_id, budget = turn.conversation_id, manager.max_history_tokens
    window = stored_window(manager.strategy, rows, session_id, budget)
    end = next((at + 1 for at, one in enumerate(window) if one.id == turn.message_id and not one.made), 0)
    shown: Sequence[StoredMessage] = window[:end]
    if not end:
        stored = rows.messages_by_id([turn.message_id]).get(turn.message_id)
        if stored is not None and not stored.is_on_thread:
            way = rows.way_to(session_id, turn.message_id, _MOST_OF_A_BRANCH)
            tail = tail_of(way[::-1], budget, CHARS4, is_whole=len(way) < _MOST_OF_A_BRANCH)
            shown = tail.stored[tail.cut :]
    return shown if _words(messages_of(shown[-len(new) :])) == _words(new) else []


def _newest_turn(rows: Log, manager: MemoryManager, turn: RecordedTurn, new: NewMessages) -> Sequence[StoredMessage]:
    """The new messages, whatever their size, behind their question, and the newest between the two that fit."""
    as_sent = [
        StoredMessage(id=ROOT, session_id=turn.conversation_id, message=one, created_at=None, uid=uid)
        for one, uid in zip(new.messages, new.uids, strict=True)
    ]
    if new.messages[0].role == "user":
        return as_sent
    way = _way_to_question(rows, turn, len(as_sent))
    stored = with_closed_calls(way[::-1])
    begin = way[: len(as_sent)][-1].id if way else None
    first = next((at for at, one in enumerate(stored) if one.id == begin and not one.made), len(stored) - 1)
    recent = messages_of(stored)
    least = sum(at > first for at in borders(recent, "message")) + 1
    question = [0] if recent and recent[0].role == "user" else []
    shown = {id(one) for one in fit(recent, manager.max_history_tokens, CHARS4, "message", least, question)}
    return [one for one in stored if id(one.message) in shown] or as_sent


def _way_to_question(rows: Log, turn: RecordedTurn, least: int) -> list[StoredMessage]:
    """The newest `least` messages of a turn and those before them, newest first, down to a question, if any."""
    way = rows.way_to(turn.conversation_id, turn.message_id, least)
    while way and way[-1].message.role != "user":
        page = rows.way_before(turn.conversation_id, way[-1].id, _PAGE)
        asked = next((at for at, one in enumerate(page) if one.message.role == "user"), len(page) - 1)
        way += page[: asked + 1]
        if not page:
            break
    return way


def _words(messages: Sequence[Message]) -> list[tuple[str, str]]:
    return [(one.role, one.text) for one in messages]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The position that a request gives its messages: after a stored message, or all of them after the head.

    With `shows_stored` the model sees the stored window instead of the client's messages. With `names_all` the uids
    of all messages are returned. With `recalls` what was recalled for questions is read.
    """

    parent_id: int | None
    sends_new_only: bool
    shows_stored: bool = False
    names_all: bool = False
    recalls: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredQuestion:
    """The stored part of a chat: its turn, its new messages, and the history to show, if any.

    `added` are the ids of messages not stored before; the last message always counts as new. `uids` are those of
    the newest messages that the client sent, instructions apart: of all of them if they were asked for, else of those
    that something was recalled for and of the newest question.
    """

    turn: RecordedTurn
    added: Sequence[int]
    new: NewMessages
    shown: ShownHistory | None = None
    uids: Sequence[str | None] = ()


class UnknownParent(InvalidRequest):
    """Raised when the conversation has no message with that id."""


def conversation_messages(kept: Sequence[core.Message]) -> list[Message]:
    """The `kept_messages` of a request as conversations hold them: without document frames.

    So a question is the same message when a client sends it again without the documents that came with it.
    """
    return [from_model(without_frame(without_tags(one))) for one in kept]


def kept_messages(sent: Sequence[core.Message]) -> list[core.Message]:
    """The messages of a request that conversations hold: the last one, and what is said before it.

    Instructions are none, nor are an agent's messages in which no person speaks. A summary with which a compacted
    session begins anew stands for what is stored already: what is said behind it, and behind its answer, goes on.
    """
    said = [one for one in sent if one.role not in INSTRUCTIONS]
    summary = max((at for at, one in enumerate(said[:-1]) if one.role == "user" and is_summary(one.text)), default=-1)
    if summary >= 0:
        behind = said[summary + 1 :]
        is_answered = len(behind) > 1 and behind[0].role == "assistant"
        is_a_question = bool((question_in(said[summary].text) or "").strip())
        said = said[summary:] if is_a_question else behind[1:] if is_answered else behind
    return [*(one for one in said[:-1] if not _is_of_agent(one)), *said[-1:]]


def _is_of_agent(message: core.Message) -> bool:
    """True for a message of the user's role in which an agent alone speaks, and answers nothing."""
    is_text = all(isinstance(part, core.TextPart) for part in message.parts)
    return message.role == "user" and is_text and is_of_agent(message.text)


def store_question(
    own: OwnConversations, session_id: str, *, history: Sequence[Message], prompt: str, place: Place
) -> StoredQuestion:
    """Store a chat's new messages (at least the last one) and build the window after it in one step."""
    attachments, manager = Attachments(own.node_parts.objects), own.manager
    after = place.parent_id
    if after is not None:
        _check_parent(own, session_id, after)  # before an attachment is stored for it
        history = _behind_the_last_answer(history)
    elif place.sends_new_only and all(one.role != "assistant" for one in history):
        after = HEAD  # a request that asks for the stored window sends new messages; one with an answer, a history
    history = [attachments.put_away(message, session_id) for message in history]
    records = [record_of(session_id, one) for one in history]

    def append_history(rows: Log) -> StoredQuestion:
        placed = rows.append(
            session_id, records, after=after, system_prompt=prompt, embedding_model=manager.embedding_model
        )
        first_new = len(history) - max(1, len(placed.added))
        asked = [id for id, one in zip(placed.ids, history, strict=True) if one.role == "user"][-1:]
        if place.recalls:
            uids, recalled = _read_recalled(rows, session_id, placed.ids, history, asked)
        else:
            uids, recalled = rows.uids_of(placed.ids if place.names_all else asked), None
        named = [uids.get(id) for id in placed.ids]
        new = NewMessages(messages=history[first_new:], uids=named[first_new:])
        is_of_client = new.messages[0].role == "assistant"  # an answer of its own
        if place.parent_id is None and placed.added and not is_of_client:
            own.open_questions.follow(own.folder, placed.parent_id, placed.added[0])
        turn = RecordedTurn(
            conversation_id=session_id,
            message_id=placed.ids[-1],
            question_uid=uids[asked[0]] if asked else None,
            open=own.open_questions.ask(own.folder, placed.ids[-1]),
            recalled=recalled,
        )
        is_at_hand = isinstance(manager.strategy, SimpleStrategy)  # other strategies may wait for a model
        shown = shown_history(rows, manager, turn, new) if place.shows_stored and is_at_hand else None
        is_named = place.names_all or place.recalls
        return StoredQuestion(turn=turn, added=placed.added, new=new, shown=shown, uids=named if is_named else ())

    return own.log.together(append_history)


def _read_recalled(
    rows: Log, session_id: str, ids: Sequence[int], history: Sequence[Message], asked: Sequence[int]
) -> tuple[Mapping[int, str], KeptRecall]:
    """The uids of questions that something was recalled for, of the newest and of `asked`; and what was recalled."""
    said = zip(reversed(ids), reversed(history), strict=True)
    question = next((id for id, one in said if one.role == "user" and typed_text(one.text)), None)
    found = rows.questions(session_id, [*asked, *([] if question is None else [question])])
    uids = {id: uid for id, (uid, _) in found.items()}
    known = {uid: read for uid, text in found.values() if (read := read_references(text)) is not None}
    return uids, KeptRecall(known=known, question=None if question is None else uids.get(question))


def _check_parent(own: OwnConversations, session_id: str, parent_id: int) -> None:
    if parent_id != ROOT and own.manager.get_message(session_id, parent_id) is None:
        raise UnknownParent(
            f"The conversation {session_id[:80]!r} has no message {parent_id}, which parent_id names. Its messages "
            "are listed by GET /api/conversations/{id}/messages; 0 is the beginning.",
            field="parent_id",
        )


def _behind_the_last_answer(history: Sequence[Message]) -> Sequence[Message]:
    """The new messages of a request: a question or tool results, or its last answer when it ends with one."""
    start = max((at + 1 for at, one in enumerate(history[:-1]) if one.role == "assistant"), default=0)
    return history[start:]


def tag_session(own: OwnConversations, session_id: str, kinds: Sequence[str]) -> None:
    """Note in the session's metadata that these kinds of personal data stand in it."""

    def tag(rows: Log) -> None:
        record = rows.get_session(session_id)
        known = set() if record is None else set(record.metadata.custom.get(PERSONAL_DATA) or ())
        if record is not None and not known.issuperset(kinds):
            custom = {**record.metadata.custom, PERSONAL_DATA: sorted(known.union(kinds))}
            rows.update_session(session_id, metadata=replace(record.metadata, custom=custom))

    own.log.together(tag)


def store_answer(
    own: OwnConversations, turn: RecordedTurn, reply: Reply, run_id: str, finish_reason: str
) -> Sequence[int] | None:
    """Store the answer; the ids of the messages to embed, None when the conversation is gone.

    What was recalled for questions is stored with it. The ids are those of the answer and of what it was put in front
    of: messages that came behind the question while it was under way. There are none for an answer without text and
    calls, which is not stored. Vectors are made by a later call of `MemoryManager.embed`.
    """
    recalled = {} if turn.recalled is None else turn.recalled.changed
    references = {uid: references_as_json(each) for uid, each in recalled.items()}
    if not (reply.words or reply.tool_calls):
        own.log.put_recalled(references)
        return None if own.manager.get_message(turn.conversation_id, turn.message_id) is None else ()
    calls = [read_call(call) for call in reply.tool_calls]
    answer = record_of(
        turn.conversation_id,
        Message("assistant", reply.words or None, calls or None),
        run_id=run_id,
        finish_reason=finish_reason,
        uid=turn.answer_uid,
    )

    def put_both(rows: Log) -> list[int]:
        rows.put_recalled(references)
        return rows.put_answer(
            turn.conversation_id,
            answer,
            turn.message_id,
            followers=turn.open.followers,
            embedding_model=own.manager.embedding_model,
        )

    try:
        return own.log.together(put_both)
    except MessageNotFoundError:
        return None


def add_messages(
    own: OwnConversations, session_id: str, messages: Sequence[Message], uids: Sequence[str] | None = None
) -> list[int]:
    """Add messages that ask for no answer behind the newest one; their ids. `uids` are the names they get.

    Behind a question whose answer is under way, that answer is put in front of them.
    """
    named = zip(messages, uids or repeat(None, len(messages)), strict=True)
    records = [record_of(session_id, one, uid=uid) for one, uid in named]

    def append_messages(rows: Log) -> list[int]:
        ids = rows.append_messages(session_id, records, embedding_model=own.manager.embedding_model)
        for one in rows.messages_by_id(ids[:1]).values():
            own.open_questions.follow(own.folder, one.parent_id or ROOT, one.id)
        return ids

    ids = own.log.together(append_messages)
    own.manager.embed(ids)
    return ids
