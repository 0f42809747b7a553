"""The memory of one workflow node in one conversation: its own prompts and answers.

The document is read on first use and held by the instance. Turns are added to the instance and written by `flush`,
which merges them with turns that other runs of the node stored meanwhile. An instance belongs to one run of a node;
several instances may use one memory concurrently.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import dropwhile, islice
from pathlib import Path

import structlog

from mnemoir.conversations.log.files import (
    DEFAULT_DETAIL,
    Detail,
    FileResolver,
    FileUploadConfig,
    HistoryFiles,
    accepted_media,
)
from mnemoir.conversations.nodes.document import Compression, NodeMemoryData, NodeMemoryFile, NodeMemoryMessage
from mnemoir.conversations.nodes.keys import node_key
from mnemoir.conversations.nodes.object import NodeObject
from mnemoir.conversations.nodes.records import ReplayedFile, answered_rounds, as_messages, round_of
from mnemoir.conversations.nodes.thread import thread_records
from mnemoir.conversations.turns.presets import DEFAULT, HistoryRules, counter_of, fit_by
from mnemoir.conversations.turns.threads import NIL, row_limit, stored_turns
from mnemoir.conversations.turns.token_buffer import BaseMemory, history_text
from mnemoir.conversations.windows.counters import CountsTokens, TokenCounter, counter_named
from mnemoir.conversations.windows.validity import close_open_calls
from mnemoir.core.clock import Clock, utc_now
from mnemoir.core.conversations import Message
from mnemoir.core.errors import InvalidRequest, StorageUnavailable
from mnemoir.ports.backends import backend
from mnemoir.ports.leases import Leases
from mnemoir.ports.objects import ObjectStore
from mnemoir.ports.turns import TurnRows

__all__ = [
    "NodeMemoryData",
    "NodeMemoryFile",
    "NodeMemoryMessage",
    "NodeParts",
    "NodeTokenBufferMemory",
    "local_node_parts",
    "use_node_parts",
]

DEFAULT_FOLDER = Path("~/.mnemoir")  # for scripts; the server uses its data directory
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeParts:
    """The dependencies of node memories.

    Without `turns`, the node's own records determine the thread; without `files`, history is text. All `rules` apply
    except the limit on the number of turns; rules that count rows read the 500 newest turns.
    """

    objects: ObjectStore
    lock: Leases | None = None
    turns: TurnRows | None = None
    files: FileResolver | None = None
    rules: HistoryRules = DEFAULT
    compression: Compression = "gzip"
    clock: Clock = utc_now


def local_node_parts(folder: str | Path = DEFAULT_FOLDER) -> NodeParts:
    """Parts that store everything in one local directory, which several processes may share."""
    root = Path(folder).expanduser()
    return NodeParts(objects=backend("objects")(root / "objects"), lock=backend("file-lock")(root / "locks"))


def use_node_parts(parts: NodeParts | None) -> None:
    """Set the default parts of this process's node memories; None removes them."""
    _usual["parts"] = parts


class NodeTokenBufferMemory(BaseMemory):
    """The memory of a node. `parts` default to those of `use_node_parts`, else to `local_node_parts()`.

    The constructor raises InvalidRequest for an empty id.
    """

    def __init__(
        self,
        app_id: str,
        conversation_id: str,
        node_id: str,
        model_instance: CountsTokens,
        *,
        tenant_id: str | None = None,
        parts: NodeParts | None = None,
    ) -> None:
        self.app_id = app_id
        self.conversation_id = conversation_id
        self.node_id = node_id
        self.tenant_id = tenant_id
        self.model_instance = model_instance
        self._parts = parts or _usual["parts"] or local_node_parts()
        self._counter: TokenCounter = counter_of(self._parts.rules, model_instance)
        self._noting: TokenCounter = counter_named(self._parts.rules.counter, model_instance)  # it never raises
        self._object = NodeObject(
            key=node_key(app_id, conversation_id, node_id),
            store=self._parts.objects,
            lock=self._parts.lock,
            compression=self._parts.compression,
            clock=self._parts.clock,
        )
        self._read: NodeMemoryData | None = None
        self._added: list[list[NodeMemoryMessage]] = []
        self._is_in_doubt = False  # True when a failed flush may have written nevertheless

    @property
    def storage_key(self) -> str:
        """The key of the object that holds this memory."""
        return self._object.key

    def add_messages(
        self,
        message_id: str,
        parent_message_id: str | None,
        user_content: str,
        user_files: Sequence[ReplayedFile],
        assistant_content: str,
        assistant_files: Sequence[ReplayedFile],
        *,
        steps: Sequence[Message] = (),
    ) -> None:
        """Add the node's prompt and answer in the turn `message_id`; `flush` stores them.

        A node that runs several times in a turn adds several rounds. `steps` are the tool calls and results between
        the two. Raises InvalidRequest for an empty id and for the sentinel.
        """
        if not message_id or message_id == NIL:
            raise InvalidRequest(
                f"A turn of node memory needs an id, and {message_id!r} is none.", field="message_id"
            )
        self._document()
        self._added.append(
            round_of(
                message_id,
                parent_message_id,
                [Message("user", user_content), *steps, Message("assistant", assistant_content)],
                files=(user_files or (), assistant_files or ()),
                counter=self._noting,
                at=self._parts.clock(),
            )
        )

    def get_history_prompt_messages(  # type: ignore[override]  # the documented signature, which needs the turn
        self,
        current_message_id: str,
        tenant_id: str,
        max_token_limit: int = 2000,
        file_upload_config: FileUploadConfig | None = None,
        *,
        message_limit: int | None = None,
        parent_message_id: str | None = None,
    ) -> Sequence[Message]:
        """The node's history on the thread of the current turn, oldest first, within the token limit.

        It includes rounds that the node has added in the current turn. Empty when the store cannot be read or holds a
        later version. Of `file_upload_config` only the detail of images is used. `message_limit` exists for callers
        of other memories and is ignored. `parent_message_id` is the parent of the current turn; it is used when
        neither the conversation's turns nor the records know it. Without a source of turns, a turn that is new to the
        node follows the last recorded one.
        """
        document = self._document()
        if document is None:
            return []
        records = self._thread(document.messages, current_message_id, parent_message_id)
        if self._parts.rules.skip_empty_turns:
            records = answered_rounds(records)
        messages = as_messages(records, self._files(tenant_id), _detail(file_upload_config))
        return self._fitting_messages(self._sendable(messages), max_token_limit)

    def get_history_prompt_text(  # type: ignore[override]
        self,
        human_prefix: str = "Human",
        ai_prefix: str = "Assistant",
        max_token_limit: int = 2000,
        message_limit: int | None = None,
        *,
        current_message_id: str,
        tenant_id: str | None = None,
        parent_message_id: str | None = None,
    ) -> str:
        """The same history as one text, for models that complete a prompt."""
        tenant = tenant_id or self.tenant_id or ""
        messages = self.get_history_prompt_messages(
            current_message_id, tenant, max_token_limit, parent_message_id=parent_message_id
        )
        return history_text(messages, human_prefix, ai_prefix)

    def flush(self) -> None:
        """Store the rounds added since the last flush, if any.

        Raises StorageUnavailable, and Conflict when a later version of the program wrote the object. The rounds are
        then kept, and the next flush tries again without storing a round twice.
        """
        if not self._added:
            return
        merge = _Merge(self._added, is_repeated=self._is_in_doubt)
        self._is_in_doubt = True
        self._read = self._object.change(merge)
        self._added = []
        self._is_in_doubt = False

    def clear(self) -> None:
        """Delete all records, in this instance and in the store; an empty object stays. Raises as `flush` does."""
        self._read = self._object.change(lambda data: NodeMemoryData())
        self._added = []
        self._is_in_doubt = False

    def exists(self) -> bool:
        """True when the store has an object for this memory. Raises StorageUnavailable."""
        return self._object.exists()

    def _extract_thread(
        self, messages: Sequence[NodeMemoryMessage], current_message_id: str
    ) -> list[NodeMemoryMessage]:
        """The messages on the thread of a turn, by the parents known to the conversation and the messages."""
        return self._thread(messages, current_message_id, None, is_linear=False)

    def _thread(
        self, records: Sequence[NodeMemoryMessage], current: str, parent: str | None, *, is_linear: bool = True
    ) -> list[NodeMemoryMessage]:
        turns, rules = self._parts.turns, self._parts.rules
        if turns is None:
            parent = parent or (NIL if is_linear else None)
            return thread_records(records, current, parent_message_id=parent, rule=rules.thread)
        rows = stored_turns(turns, self.conversation_id)
        read = islice(rows, row_limit(None)) if rules.limit_applies_to == "rows" else rows
        return thread_records(records, current, read, parent_message_id=parent, rule=rules.thread)

    def _document(self) -> NodeMemoryData | None:
        """The stored and the added records; None when the store cannot be read, and the next call tries again."""
        if self._read is None:
            self._read = self._load()
        if self._read is None:
            return None
        return NodeMemoryData(messages=[*self._read.messages, *_flat(self._added)])

    def _load(self) -> NodeMemoryData | None:
        try:
            reading = self._object.read()
        except StorageUnavailable as exc:
            _log.warning("node_memory_unavailable", key=self.storage_key, cause=exc.message)
            return None
        if reading.is_newer:
            _log.warning("node_memory_is_newer", key=self.storage_key)
            return None
        if reading.damage:
            _log.warning("node_memory_damaged", key=self.storage_key, cause=reading.damage)
        return reading.data

    def _files(self, tenant_id: str) -> HistoryFiles | None:
        if self._parts.files is None:
            return None
        return HistoryFiles(
            resolver=self._parts.files,
            tenant_id=tenant_id or self.tenant_id or "",
            accepts=accepted_media(self.model_instance),
        )

    def _sendable(self, messages: Sequence[Message]) -> list[Message]:
        """The messages without open tool calls and, as the rules say, without messages that providers refuse."""
        rules = self._parts.rules
        kept = close_open_calls(messages)
        if rules.skip_empty_turns:
            kept = [
                message for message in kept if message.content or message.tool_calls or message.role != "assistant"
            ]
        return list(dropwhile(lambda message: message.role != "user", kept)) if rules.unit == "turn" else kept

    def _fitting_messages(self, messages: list[Message], budget: int) -> list[Message]:
        rules = self._parts.rules
        if rules.guards_counter:
            return fit_by(rules, messages, budget, self._counter)
        try:
            return fit_by(rules, messages, budget, self._counter)
        except Exception as exc:  # noqa: BLE001  # a foreign counter; these rules then send everything
            _log.warning("node_memory_not_cut", key=self.storage_key, error=type(exc).__name__)
            return messages


@dataclass(slots=True)
class _Merge:
    """A change that appends rounds to a document. Rounds that may be in it already are first searched for."""

    rounds: Sequence[Sequence[NodeMemoryMessage]]
    is_repeated: bool = field(kw_only=True)

    def __call__(self, data: NodeMemoryData) -> NodeMemoryData:
        missing = [round for round in self.rounds if not (self.is_repeated and _holds(data, round))]
        self.is_repeated = True
        return data.model_copy(update={"messages": [*data.messages, *_flat(missing)]})


def _holds(data: NodeMemoryData, round: Sequence[NodeMemoryMessage]) -> bool:
    turn = [record for record in data.messages if record.message_id == round[0].message_id]
    return any(turn[at : at + len(round)] == round for at in range(len(turn) - len(round) + 1))


def _flat(rounds: Iterable[Iterable[NodeMemoryMessage]]) -> list[NodeMemoryMessage]:
    return [record for round in rounds for record in round]


def _detail(config: FileUploadConfig | None) -> Detail:
    image = config.image_config if config else None
    return (image.detail if image else None) or DEFAULT_DETAIL


_usual: dict[str, NodeParts | None] = {"parts": None}
