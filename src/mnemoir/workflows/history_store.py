"""The stored histories of nodes: reading one for a run, and appending to it. All functions block.

The turns of a node memory are runs of workflows. The thread of runs that leads to the current one comes from the
stored messages: each answer names its run. So runs with replaced answers are on no thread, and a turn with several
runs, for tool calls of the client, includes all of them.
"""

import sys
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice

from mnemoir.conversations.attachments.attachments import Attachments
from mnemoir.conversations.log.files import FileRef, FileResolver, file_ref
from mnemoir.conversations.memory_config import MemoryConfig, MemoryMode, fetch_memory, fetch_node_memory
from mnemoir.conversations.nodes.document import NodeMemoryData
from mnemoir.conversations.nodes.keys import node_key
from mnemoir.conversations.nodes.memory import NodeTokenBufferMemory
from mnemoir.conversations.nodes.object import NodeObject, NodeReading
from mnemoir.conversations.turns.session_files import SessionFiles, attachments_of
from mnemoir.conversations.turns.session_turns import CurrentTurn, SessionConversations, thread_back
from mnemoir.conversations.turns.turns import TurnLog
from mnemoir.conversations.users import OwnConversations
from mnemoir.conversations.windows.counters import HEURISTIC, AdditiveCounter
from mnemoir.conversations.windows.fitting import borders
from mnemoir.core.conversations import MediaType, Message
from mnemoir.core.text import estimate_prompt_tokens
from mnemoir.ports.log import Log
from mnemoir.ports.turns import Turn
from mnemoir.workflows.prompting.history import TOKENS_AROUND_MESSAGE
from mnemoir.workflows.run import RecordedTurn

_ALL = sys.maxsize  # tokens: the history is cut later, when the rest of the prompt is known
_FIRST_TURNS = 16  # read first; more are read only if all of these may fit
_MOST_TURNS = 500
_MOST_MESSAGES = 2000  # messages searched for runs
_IMAGES: tuple[MediaType, ...] = ("image",)
_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeContext:
    """The node whose history is used, in a run that answers a turn of a stored conversation.

    `recorded` is that turn; `config` are the node's memory settings.
    """

    app_id: str
    node_id: str
    project: str
    run_id: str
    recorded: RecordedTurn
    config: MemoryConfig
    sees_images: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadHistory:
    """A history within its window, oldest message first; older messages do not fit into `most_tokens`.

    `parent` is the previous run of the thread, for mode `node`; `note` describes a problem, "" for none.
    """

    most_tokens: int = _ALL
    messages: Sequence[Message] = ()
    parent: str | None = None
    note: str = ""


def _tokens_of(message: Message) -> int:
    return max(HEURISTIC.count_one(message), TOKENS_AROUND_MESSAGE + estimate_prompt_tokens(message.text))


# the tokens of messages in a context: the larger of two estimates, with the tokens around each message
COUNTER = AdditiveCounter(_tokens_of)


def read_history(own: OwnConversations, place: NodeContext, most_tokens: int) -> ReadHistory:
    """The history to show the node's model within `most_tokens` tokens. Raises StorageUnavailable."""
    read = _own_rounds if place.config.mode is MemoryMode.NODE else _finished_turns
    return read(own, place, most_tokens)


def keep_round(own: OwnConversations, place: NodeContext, asked: str, answer: str, parent: str | None) -> None:
    """Append the node's prompt and answer to its own memory; nothing is stored for a deleted conversation.

    Raises StorageUnavailable, and Conflict when a later version of the program wrote that memory.
    """
    memory, storage = _node_memory(own, place, TurnLog()), own.log
    if memory is None:
        return
    memory.add_messages(place.run_id, parent, asked, _sent_files(storage, place), answer, [])
    memory.flush()
    if storage.get_session(place.recorded.conversation_id) is None:
        own.node_parts.objects.delete(memory.storage_key)


@dataclass(frozen=True, slots=True)
class _Reader:
    """The properties of the model that histories need."""

    accepted_media: Collection[MediaType]

    @classmethod
    def of(cls, place: NodeContext) -> "_Reader":
        return cls(_IMAGES if place.sees_images else ())

    def get_llm_num_tokens(self, messages: Sequence[Message], /) -> int:
        return COUNTER.count(messages)


def _finished_turns(own: OwnConversations, place: NodeContext, most_tokens: int) -> ReadHistory:
    """The finished turns of the conversation."""
    current = CurrentTurn(id=place.run_id, message_id=place.recorded.message_id)
    sessions = SessionConversations(own.log, files=_files(own, place), current=current)
    memory = fetch_memory(
        _pool(place), place.app_id, place.project, place.config, _Reader.of(place), conversations=sessions
    )
    messages: Sequence[Message] = ()
    most_turns = place.config.message_limit or _MOST_TURNS
    turns, read = 0, -1
    while (
        memory is not None and turns < most_turns and read < len(messages) and COUNTER.count(messages) <= most_tokens
    ):
        turns, read = min(most_turns, 2 * turns or _FIRST_TURNS), len(messages)
        messages = memory.get_history_prompt_messages(max_token_limit=_ALL, message_limit=turns)
    return ReadHistory(messages=messages, most_tokens=most_tokens)


def _own_rounds(own: OwnConversations, place: NodeContext, most_tokens: int) -> ReadHistory:
    """The finished rounds of the node itself."""
    key = node_key(place.app_id, place.recorded.conversation_id, place.node_id)
    reading = NodeObject(key=key, store=own.node_parts.objects).read()
    runs = _runs(own.log, place, reading.data, most_tokens)
    memory = _node_memory(own, place, TurnLog(_as_turns([place.run_id, *runs], place.recorded.conversation_id)))
    if memory is None:
        return ReadHistory()
    parent = runs[0] if runs else None
    messages = memory.get_history_prompt_messages(place.run_id, place.project, _ALL, parent_message_id=parent)
    return ReadHistory(
        messages=_newest(messages, place.config.message_limit),
        most_tokens=most_tokens,
        parent=parent,
        note=_note(reading),
    )


def _note(reading: NodeReading) -> str:
    if reading.is_newer:
        return "A later version of the program wrote this node's memory: it stays as it is, and nothing is added."
    if reading.damage:
        return f"This node's memory is damaged and starts empty; its bytes are kept beside it: {reading.damage}"
    return ""


def _node_memory(own: OwnConversations, place: NodeContext, turns: TurnLog) -> NodeTokenBufferMemory | None:
    parts = replace(own.node_parts, turns=turns, files=_files(own, place))
    model = _Reader.of(place)
    return fetch_node_memory(_pool(place), place.app_id, place.node_id, place.config, model, node_parts=parts)


def _pool(place: NodeContext) -> dict[tuple[str, str], str]:
    return {("sys", "conversation_id"): place.recorded.conversation_id, ("sys", "message_id"): place.run_id}


def _runs(storage: Log, place: NodeContext, data: NodeMemoryData, most_tokens: int) -> list[str]:
    """The runs that gave the answers of the thread, newest first, without the current run.

    As many as have records of the node that may fit, and at least the newest.
    """
    costs: dict[str, int] = defaultdict(int)
    for record in data.messages:
        if record.message_id != place.run_id:
            costs[record.message_id] += COUNTER.count_one(Message("user", record.content))
    thread = thread_back(storage, place.recorded.conversation_id, place.recorded.message_id)
    runs: dict[str, None] = {}
    for message in islice(thread, _MOST_MESSAGES):
        run = message.run_id
        if not run or run == place.run_id or run in runs:
            continue
        runs[run] = None
        most_tokens -= costs.pop(run, 0)
        if most_tokens < 0 or not costs or len(runs) == _MOST_TURNS:
            break
    return list(runs)


def _as_turns(runs: Sequence[str], conversation_id: str) -> Iterator[Turn]:
    """One turn row for each of these runs, newest first."""
    for at, run in enumerate(runs):
        parent = runs[at + 1] if at + 1 < len(runs) else None
        yield Turn(
            id=run,
            conversation_id=conversation_id,
            parent_message_id=parent,
            query="",
            created_at=_BEGINNING,
            seq=len(runs) - at,
        )


def _newest(messages: Sequence[Message], rounds: int | None) -> Sequence[Message]:
    starts = borders(messages, "turn")
    return messages if rounds is None or rounds >= len(starts) else messages[starts[-rounds] :]


def _files(own: OwnConversations, place: NodeContext) -> FileResolver | None:
    if not place.sees_images:
        return None
    return SessionFiles(own.log, Attachments(own.node_parts.objects).bring_back)


def _sent_files(storage: Log, place: NodeContext) -> list[FileRef]:
    """References to the files that the user sent with the message being answered."""
    if not place.sees_images:
        return []
    thread = thread_back(storage, place.recorded.conversation_id, place.recorded.message_id)
    asked = next((message for message in thread if message.message.role == "user"), None)
    return [] if asked is None else [file_ref(attachment) for attachment in attachments_of(asked)]
