"""Thread memory and node memory have the names, parameters and defaults of the reference (2.11), without a server."""

import inspect
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

import mnemoir.conversations as conversations
from mnemoir.conversations import (
    BaseMemory,
    Conversation,
    FileTransferMethod,
    FileType,
    FileUploadConfig,
    ImageConfig,
    MemoryConfig,
    MemoryMode,
    NodeMemoryData,
    NodeMemoryFile,
    NodeMemoryMessage,
    NodeTokenBufferMemory,
    TokenBufferMemory,
)
from mnemoir.conversations.nodes.memory import local_node_parts
from mnemoir.conversations.turns.turns import TurnLog
from tests.conversations.documented import given_as, modules_after

AT = datetime(2026, 1, 7, 10, tzinfo=UTC)
LIMITS = "max_token_limit=2000, message_limit=None"
SIGNATURES = {
    "TokenBufferMemory": "conversation, model_instance",
    "TokenBufferMemory.get_history_prompt_messages": LIMITS,
    "TokenBufferMemory.get_history_prompt_text": f"human_prefix='Human', ai_prefix='Assistant', {LIMITS}",
    "BaseMemory.get_history_prompt_messages": f"*, {LIMITS}",
    "BaseMemory.get_history_prompt_text": f"human_prefix='Human', ai_prefix='Assistant', {LIMITS}",
    "NodeTokenBufferMemory": "app_id, conversation_id, node_id, model_instance, *, tenant_id=None",
    "NodeTokenBufferMemory.add_messages": (
        "message_id, parent_message_id, user_content, user_files, assistant_content, assistant_files"
    ),
    "NodeTokenBufferMemory.get_history_prompt_messages": (
        "current_message_id, tenant_id, max_token_limit=2000, file_upload_config=None"
    ),
    "NodeTokenBufferMemory.flush": "",
    "NodeTokenBufferMemory.clear": "",
    "NodeTokenBufferMemory.exists": "",
    "NodeTokenBufferMemory._extract_thread": "messages, current_message_id",
    "extract_thread_messages": "messages",
    "get_thread_messages_length": "conversation_id",
    "fetch_memory": "variable_pool, app_id, tenant_id='', node_data_memory=None, model_instance=None, node_id=''",
    "fetch_node_memory": "variable_pool, app_id, node_id, node_data_memory, model_instance",
    "validate_memory_config": "config, app_mode",
    "cleanup_node_memory": "storage, older_than_days, exists=None, dry_run=False, limit=None",
}
REQUIRED = "required"
FIELDS: dict[type[BaseModel], dict[str, object]] = {
    NodeMemoryFile: {
        "type": REQUIRED,
        "transfer_method": REQUIRED,
        "upload_file_id": None,
        "tool_file_id": None,
        "url": None,
        "belongs_to": "user",
    },
    NodeMemoryMessage: {
        "message_id": REQUIRED,
        "parent_message_id": REQUIRED,
        "role": REQUIRED,
        "content": REQUIRED,
        "files": [],
        "token_count": None,
        "created_at": REQUIRED,
    },
    NodeMemoryData: {"version": 1, "messages": []},
    ImageConfig: {"number_limits": 0, "transfer_methods": (), "detail": None},
    FileUploadConfig: {
        "image_config": None,
        "allowed_file_types": (),
        "allowed_file_extensions": (),
        "allowed_file_upload_methods": (),
        "number_limits": 0,
    },
    MemoryConfig: {
        "role_prefix": None,
        "window": None,
        "query_prompt_template": None,
        "mode": MemoryMode.CONVERSATION,
    },
    MemoryConfig.RolePrefix: {"user": REQUIRED, "assistant": REQUIRED},
    MemoryConfig.WindowConfig: {"enabled": REQUIRED, "size": None},
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_it_is_called_as_documented(name):
    found: Any = conversations
    for step in name.split("."):
        found = getattr(found, step)
    assert given_as(SIGNATURES[name], found) == SIGNATURES[name]


@pytest.mark.parametrize("model", FIELDS, ids=lambda model: model.__qualname__)
def test_a_model_has_the_documented_fields_and_defaults(model):
    found = {
        name: REQUIRED if field.is_required() else field.get_default(call_default_factory=True)
        for name, field in model.model_fields.items()
    }
    assert found == FIELDS[model]


def test_both_memories_are_base_memories_and_a_base_memory_is_abstract():
    assert issubclass(TokenBufferMemory, BaseMemory)
    assert issubclass(NodeTokenBufferMemory, BaseMemory)
    assert inspect.isabstract(BaseMemory)


def test_the_words_of_the_enumerations():
    assert [mode.value for mode in MemoryMode] == ["conversation", "node"]
    assert {kind.value for kind in FileType} == {"image", "document", "audio", "video", "custom"}
    assert {method.value for method in FileTransferMethod} == {"local_file", "remote_url", "tool_file"}


def test_image_detail_is_low_or_high():
    assert [ImageConfig(detail=detail).detail for detail in ("low", "high", None)] == ["low", "high", None]
    with pytest.raises(ValidationError):
        ImageConfig.model_validate({"detail": "auto"})


def test_a_record_is_written_with_its_time_in_utc():
    record = NodeMemoryMessage(message_id="m", parent_message_id=None, role="user", content="hi", created_at=AT)
    assert '"created_at":"2026-01-07T10:00:00Z"' in record.model_dump_json()


class Model:
    """All that a memory asks of a model."""

    def get_llm_num_tokens(self, messages):
        return len(messages)


def test_a_model_needs_nothing_but_to_count(tmp_path: Path):
    log = TurnLog()
    log.add("c", "hello", "hi", parent=None, tokens=1)
    talk = Conversation(id="c", app_id="app", tenant_id="me", rows=log)
    memory = TokenBufferMemory(talk, Model())
    assert [message.text for message in memory.get_history_prompt_messages(100, 5)] == ["hello", "hi"]
    assert memory.get_history_prompt_text(max_token_limit=100) == "Human: hello\nAssistant: hi"
    node = NodeTokenBufferMemory("app", "c", "node", Model(), parts=local_node_parts(tmp_path))
    node.add_messages("m1", None, "hello", [], "hi", [])
    node.flush()
    again = NodeTokenBufferMemory("app", "c", "node", Model(), tenant_id="me", parts=local_node_parts(tmp_path))
    assert [message.text for message in again.get_history_prompt_messages("m1", "me")] == ["hello", "hi"]


def test_it_takes_no_server():
    code = "from mnemoir.conversations import " + ", ".join(sorted({name.split(".")[0] for name in SIGNATURES}))
    rooms = {name.split(".")[1] for name in modules_after(code)}
    assert rooms <= {"conversations", "core", "ports", "search"}
