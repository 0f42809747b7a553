"""The `memory` setting of a node: selects the history that its model gets, and the memory that provides it.

A node remembers the whole conversation, or only what it said itself. Without a conversation
there is nothing to remember: such applications are rejected at configuration, and a run without one has no memory.
"""

from enum import StrEnum
from typing import Any, Protocol

import structlog
from pydantic import BaseModel

from mnemoir.conversations.nodes.memory import NodeParts, NodeTokenBufferMemory
from mnemoir.conversations.turns.presets import DEFAULT, HistoryRules
from mnemoir.conversations.turns.token_buffer import BaseMemory, TokenBufferMemory
from mnemoir.conversations.turns.turns import AppMode, Conversations, known_conversations
from mnemoir.conversations.windows.counters import CountsTokens
from mnemoir.core.errors import SettingsError

_log = structlog.get_logger(__name__)

_CONVERSATION_ID = ("sys", "conversation_id")
_TURN_ID = ("sys", "message_id")


class MemoryMode(StrEnum):
    """The kind of history: the conversation's, or the node's own."""

    CONVERSATION = "conversation"
    NODE = "node"


class MemoryConfig(BaseModel):
    """The memory of one node. `query_prompt_template` replaces the user's query in its prompt."""

    class RolePrefix(BaseModel):
        """The prefixes of user and assistant texts, for models that complete a prompt."""

        user: str
        assistant: str

    class WindowConfig(BaseModel):
        """The number of turns in the window; `size` applies only while `enabled`, and only when it is above 0."""

        enabled: bool
        size: int | None = None

    role_prefix: RolePrefix | None = None
    window: WindowConfig | None = None
    query_prompt_template: str | None = None
    mode: MemoryMode = MemoryMode.CONVERSATION

    @property
    def message_limit(self) -> int | None:
        """The number of turns in the window; None when it sets no limit."""
        if self.window is None or not self.window.enabled or not self.window.size or self.window.size < 0:
            return None
        return self.window.size


class VariablePool(Protocol):
    """The variables of a run. A mapping with pairs such as `("sys", "conversation_id")` for keys is one."""

    def get(self, selector: tuple[str, str], /) -> Any:  # a text, a value that holds one, or None
        ...


def validate_memory_config(config: MemoryConfig | None, app_mode: str) -> None:
    """Check a node's memory when its application is configured; `app_mode` is a word of `AppMode`.

    Raises SettingsError for node memory in an application whose runs belong to no conversation.
    """
    if config is not None and config.mode is MemoryMode.NODE and app_mode != AppMode.ADVANCED_CHAT:
        raise SettingsError(
            f"memory.mode is node, and an application of mode {str(app_mode)!r:.40} has no conversations that its "
            f"nodes could remember; make it {AppMode.ADVANCED_CHAT.value!r}, or take the memory away."
        )


def fetch_memory(
    variable_pool: VariablePool,
    app_id: str,
    tenant_id: str = "",
    node_data_memory: MemoryConfig | None = None,
    model_instance: CountsTokens | None = None,
    node_id: str = "",
    *,
    conversations: Conversations | None = None,
    node_parts: NodeParts | None = None,
    rules: HistoryRules = DEFAULT,
) -> BaseMemory | None:
    """The memory selected by a node's setting; None without a setting or a conversation.

    Node memory needs a `node_id` too, and is None without one. A conversation is looked for in `conversations`, else
    where `use_conversations` said; with neither there is none, and a warning. A run may name the stored turn that is
    being answered in the variable `sys.message_id`. `rules` are those of conversation memory; node memory takes its
    own from `node_parts`. Raises TypeError for a setting without a `model_instance`, which measures the history.
    """
    if node_data_memory is None:
        return None
    if model_instance is None:
        raise TypeError("fetch_memory() needs a model_instance, by which the history is measured.")
    if node_data_memory.mode is MemoryMode.NODE:
        tenant = tenant_id or None
        return _node_memory(variable_pool, app_id, node_id, model_instance, tenant_id=tenant, parts=node_parts)
    conversation_id = _text(variable_pool, _CONVERSATION_ID)
    if not conversation_id:
        return None
    known = known_conversations(conversations)
    if known is None:
        _log.warning(
            "no_place_to_find_conversations",
            conversation=conversation_id,
            advice="Pass conversations=, or call use_conversations(conversations) once.",
        )
        return None
    found = known.find(conversation_id, app_id=app_id, tenant_id=tenant_id)
    if found is None:
        return None
    return TokenBufferMemory(found, model_instance, rules=rules, turn_id=_text(variable_pool, _TURN_ID) or None)


def fetch_node_memory(
    variable_pool: VariablePool,
    app_id: str,
    node_id: str,
    node_data_memory: MemoryConfig | None,
    model_instance: CountsTokens,
    *,
    node_parts: NodeParts | None = None,
) -> NodeTokenBufferMemory | None:
    """The node's own memory, for adding the turn; None when its setting selects no node memory."""
    if node_data_memory is None or node_data_memory.mode is not MemoryMode.NODE:
        return None
    return _node_memory(variable_pool, app_id, node_id, model_instance, tenant_id=None, parts=node_parts)


def _node_memory(
    variable_pool: VariablePool,
    app_id: str,
    node_id: str,
    model_instance: CountsTokens,
    *,
    tenant_id: str | None,
    parts: NodeParts | None,
) -> NodeTokenBufferMemory | None:
    conversation_id = _text(variable_pool, _CONVERSATION_ID)
    if not conversation_id:
        _log.warning("node_memory_without_conversation", app=app_id, node=node_id)
        return None
    if not node_id:
        return None
    return NodeTokenBufferMemory(app_id, conversation_id, node_id, model_instance, tenant_id=tenant_id, parts=parts)


def _text(variable_pool: VariablePool, selector: tuple[str, str]) -> str:
    """The text of a variable, which may be wrapped in a value of the run; "" when there is none."""
    found = variable_pool.get(selector)
    text = getattr(found, "value", found)
    return text if isinstance(text, str) else ""
