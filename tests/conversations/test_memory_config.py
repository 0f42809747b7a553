"""The memory setting of a node, and the memory that it gets by it."""

from dataclasses import dataclass, replace

import pytest
from pydantic import ValidationError
from structlog.testing import capture_logs

from mnemoir.conversations.memory_config import (
    MemoryConfig,
    MemoryMode,
    fetch_memory,
    fetch_node_memory,
    validate_memory_config,
)
from mnemoir.conversations.nodes.memory import NodeParts, NodeTokenBufferMemory
from mnemoir.conversations.turns.token_buffer import BaseMemory, TokenBufferMemory
from mnemoir.conversations.turns.turns import AppMode, Conversation, use_conversations
from mnemoir.core.errors import SettingsError
from mnemoir.storage.objects.opening import open_objects
from tests.conversations.chats import LetterModel, chat, line, spoken, turn

RUN = {("sys", "conversation_id"): "c"}
WHOLE = MemoryConfig()
OWN = MemoryConfig(mode=MemoryMode.NODE)


class Chats:
    """The conversations of tenant `me` with the application `app`."""

    def __init__(self, *talks: Conversation) -> None:
        self._talks = talks

    def find(self, conversation_id: str, *, app_id: str, tenant_id: str) -> Conversation | None:
        wanted = conversation_id, app_id, tenant_id
        return next((talk for talk in self._talks if (talk.id, talk.app_id, talk.tenant_id) == wanted), None)


@pytest.fixture
def parts(tmp_path):
    return NodeParts(objects=open_objects(tmp_path))


def fetched(config=WHOLE, pool=RUN, *, app="app", tenant="me", node="n", talk=None, parts=None) -> BaseMemory | None:
    talks = Chats(talk or chat(line(2)))
    return fetch_memory(pool, app, tenant, config, LetterModel(), node, conversations=talks, node_parts=parts)


def test_a_node_remembers_the_conversation_unless_it_is_told_otherwise():
    memory = fetched()
    assert isinstance(memory, TokenBufferMemory)
    assert spoken(memory.get_history_prompt_messages()) == ["q0", "a0", "q1", "a1"]


def test_a_node_may_remember_what_it_said_itself(parts):
    memory = fetched(OWN, parts=parts)
    assert isinstance(memory, NodeTokenBufferMemory)
    memory.add_messages("t1", None, "asked", [], "told", [])
    memory.flush()
    again = fetch_node_memory(RUN, "app", "n", OWN, LetterModel(), node_parts=parts)
    assert again is not None
    assert spoken(again.get_history_prompt_messages("t1", "me")) == ["asked", "told"]


@pytest.mark.parametrize("pool", [{}, {("sys", "conversation_id"): ""}, {("sys", "conversation_id"): None}])
def test_a_run_without_a_conversation_has_no_memory(pool, parts):
    assert fetched(pool=pool) is None
    with capture_logs() as logs:
        assert fetched(OWN, pool, parts=parts) is None
    assert [log["event"] for log in logs] == ["node_memory_without_conversation"]
    assert fetch_node_memory(pool, "app", "n", OWN, LetterModel(), node_parts=parts) is None


def test_there_is_no_memory_without_a_setting_or_without_what_it_is_kept_by(parts):
    assert fetched(None) is None
    assert fetched(OWN, node="", parts=parts) is None
    assert fetch_node_memory(RUN, "app", "n", None, LetterModel(), node_parts=parts) is None
    assert fetch_node_memory(RUN, "app", "n", WHOLE, LetterModel(), node_parts=parts) is None


def test_there_is_no_memory_of_a_conversation_that_does_not_exist_or_is_anothers():
    assert fetched(pool={("sys", "conversation_id"): "gone"}) is None
    assert fetched(app="another") is None
    assert fetched(tenant="you") is None


def test_values_of_a_run_may_be_wrapped():
    @dataclass
    class Segment:
        value: str

    assert isinstance(fetched(pool={("sys", "conversation_id"): Segment("c")}), TokenBufferMemory)


def test_a_run_may_name_its_current_turn():
    branches = [turn(0), turn(1, 0), turn(2, 0), turn(3, 1, answer="")]
    memory = fetched(pool={**RUN, ("sys", "message_id"): "t3"}, talk=chat([*branches, turn(4, 2, answer="")]))
    assert memory is not None
    assert spoken(memory.get_history_prompt_messages()) == ["q0", "a0", "q1", "a1"]


def test_a_process_may_set_its_source_of_conversations_once():
    use_conversations(Chats(chat(line(1))))
    try:
        assert isinstance(fetch_memory(RUN, "app", "me", WHOLE, LetterModel()), TokenBufferMemory)
    finally:
        use_conversations(None)


def test_where_no_conversations_are_known_there_is_no_memory_and_a_warning():
    with capture_logs() as logs:
        memory = fetch_memory(variable_pool=RUN, app_id="app", node_data_memory=WHOLE, model_instance=LetterModel())
    assert memory is None
    assert [("use_conversations" in log["advice"], log["log_level"]) for log in logs] == [(True, "warning")]


def test_the_tenant_may_be_left_out(parts):
    for config, kind in ((WHOLE, TokenBufferMemory), (OWN, NodeTokenBufferMemory)):
        memory = fetch_memory(
            variable_pool=RUN,
            app_id="app",
            node_data_memory=config,
            model_instance=LetterModel(),
            node_id="n",
            conversations=Chats(replace(chat(line(1)), tenant_id="")),
            node_parts=parts,
        )
        assert isinstance(memory, kind)
    with pytest.raises(TypeError, match="model_instance"):
        fetch_memory(RUN, "app", node_data_memory=WHOLE)


@pytest.mark.parametrize("mode", ["completion", "chat", "agent-chat", "workflow", "anything"])
def test_node_memory_is_refused_where_runs_belong_to_no_conversation(mode):
    with pytest.raises(SettingsError, match=f"memory.mode is node.*{mode}"):
        validate_memory_config(OWN, mode)
    validate_memory_config(WHOLE, mode)
    validate_memory_config(None, mode)


def test_node_memory_is_for_chats_backed_by_workflows():
    validate_memory_config(OWN, "advanced-chat")
    validate_memory_config(OWN, AppMode.ADVANCED_CHAT)


@pytest.mark.parametrize(
    ("window", "limit"),
    [
        (None, None),
        ({"enabled": True, "size": 3}, 3),
        ({"enabled": False, "size": 3}, None),
        ({"enabled": True}, None),
        ({"enabled": True, "size": 0}, None),
        ({"enabled": True, "size": -1}, None),
    ],
)
def test_a_window_limits_only_while_enabled_and_above_nothing(window, limit):
    assert MemoryConfig(window=window).message_limit == limit


def test_a_setting_is_read_from_json():
    read = MemoryConfig.model_validate_json(
        '{"mode": "node", "role_prefix": {"user": "U", "assistant": "A"}, "window": {"enabled": true, "size": 4},'
        ' "query_prompt_template": "Q"}'
    )
    assert read == MemoryConfig(
        mode=MemoryMode.NODE,
        role_prefix=MemoryConfig.RolePrefix(user="U", assistant="A"),
        window=MemoryConfig.WindowConfig(enabled=True, size=4),
        query_prompt_template="Q",
    )
    with pytest.raises(ValidationError):
        MemoryConfig.model_validate({"mode": "other"})
