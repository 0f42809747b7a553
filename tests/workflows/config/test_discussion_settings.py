"""The file of discussion settings."""

import pytest

from mnemoir.core.errors import SettingsError
from mnemoir.workflows.config.memory import DiscussionSettings
from tests.workflows.config.config_kit import SMALL, tree_of

KEY = "discussionIdMemoryFileWorkflowSettings"
NO_EFFECT = (
    "vectorMemoryIndexTopics",
    "embeddingEndpointName",
    "embeddingBackfillBatchSize",
    "useStateDocument",
    "stateDocumentWorkflowName",
    "stateDocumentMinRetentionRatio",
    "condenseMemories",
    "memoriesBeforeCondensation",
    "memoryCondensationBuffer",
    "condenseMemoriesPrompt",
    "condenseMemoriesSystemPrompt",
    "condenseMemoriesEndpointName",
    "condenseMemoriesPreset",
    "condenseMemoriesMaxResponseSizeInTokens",
    "condensationLockTimeoutSeconds",
)


def read(**said):
    return DiscussionSettings.model_validate(said)


def user_of(folder, files, **settings):
    """A user with these additional settings."""
    return tree_of(folder, {"Users/ann.json": {**SMALL["Users/ann.json"], **settings}, **files}).user("Ann")


def test_an_empty_file_gives_the_defaults_of_the_format():
    said = read()
    assert (said.uses_records, said.summary_workflow, said.record_workflow) == (False, "", "")
    assert (said.system_prompt, said.prompt, said.endpoint, said.endpoints, said.preset) == ("", "", "", (), "")
    assert (said.max_tokens, said.chunk_tokens, said.most_messages_between_chunks, said.lookback) == (400, 1000, 5, 3)
    assert (said.record_endpoint, said.record_preset, said.record_max_tokens) == ("", "", 1024)
    assert (said.record_chunk_tokens, said.most_messages_between_record_chunks) == (1000, 5)
    assert said.record_lookback is None


def test_every_key_is_read():
    said = read(
        useVectorForQualityMemory="true",
        fileMemoryWorkflowName="Sum",
        systemPrompt="S",
        prompt="P",
        endpointName="Main",
        multiModelList=[{"endpointName": "Main"}, {"endpointName": "Second"}],
        preset="Calm",
        maxResponseSizeInTokens=1,
        chunkEstimatedTokenSize=2,
        maxMessagesBetweenChunks=3,
        lookbackStartTurn=4,
        vectorMemoryWorkflowName="Records",
        vectorMemoryEndpointName="Third",
        vectorMemoryPreset="Wild",
        vectorMemoryMaxResponseSizeInTokens=5,
        vectorMemoryChunkEstimatedTokenSize=6,
        vectorMemoryMaxMessagesBetweenChunks=7,
        vectorMemoryLookBackTurns=8,
    )
    assert (said.uses_records, said.summary_workflow, said.record_workflow) == (True, "Sum", "Records")
    assert (said.system_prompt, said.prompt, said.endpoint, said.preset) == ("S", "P", "Main", "Calm")
    assert [listed.endpoint for listed in said.endpoints] == ["Main", "Second"]
    assert (said.max_tokens, said.chunk_tokens, said.most_messages_between_chunks, said.lookback) == (1, 2, 3, 4)
    assert (said.record_endpoint, said.record_preset, said.record_max_tokens) == ("Third", "Wild", 5)
    assert (said.record_chunk_tokens, said.most_messages_between_record_chunks, said.record_lookback) == (6, 7, 8)


@pytest.mark.parametrize("key", [*NO_EFFECT, "Display_Only_Description", "someNewKey"])
@pytest.mark.parametrize("value", [None, True, [1], {"a": 1}, "x"])
def test_keys_without_effect_and_unknown_ones_may_hold_anything(key, value):
    assert read(**{key: value, "maxResponseSizeInTokens": 7}).max_tokens == 7


def test_null_stands_for_a_key_that_is_not_given():
    assert read(lookbackStartTurn=None, endpointName=None, multiModelList=None) == read()


def test_a_negative_number_means_zero():
    said = read(lookbackStartTurn=-1, maxMessagesBetweenChunks=-5, vectorMemoryLookBackTurns="-2")
    assert (said.lookback, said.most_messages_between_chunks, said.record_lookback) == (0, 0, 0)


@pytest.mark.parametrize("name", ["Mine", "Mine.json", "mine"])
def test_the_file_is_found_among_the_users_workflows(tmp_path, name):
    user = user_of(tmp_path, {"Workflows/Ann/Mine.json": {"lookbackStartTurn": 9}}, **{KEY: name})
    assert user.discussion_settings().lookback == 9


def test_the_file_is_looked_for_in_the_folder_that_replaces_the_users_own(tmp_path):
    files = {"Workflows/other/Mine.json": {"lookbackStartTurn": 9}}
    user = user_of(tmp_path, files, workflowConfigsSubDirectoryOverride="other", **{KEY: "Mine"})
    assert user.discussion_settings().lookback == 9


def test_a_missing_file_is_an_error_with_key_position_and_nearest_name(tmp_path):
    user = user_of(tmp_path, {"Workflows/Ann/Mine.json": {}}, **{KEY: "Mind"})
    with pytest.raises(SettingsError, match=rf"{KEY} 'Mind' was not found: .*Workflows/Ann/Mind\.json.*'Mine'\?"):
        user.discussion_settings()


def test_a_user_without_settings_gets_an_error_with_the_remedy(tmp_path):
    with pytest.raises(SettingsError, match=rf"Users/ann\.json .* into Workflows/Ann, and name it as {KEY}\."):
        user_of(tmp_path, {}).discussion_settings()


@pytest.mark.parametrize("content", [[], "text", {"lookbackStartTurn": "many"}, b"{"])
def test_a_file_of_the_wrong_shape_is_an_error_that_names_it(tmp_path, content):
    user = user_of(tmp_path, {"Workflows/Ann/Mine.json": content}, **{KEY: "Mine"})
    with pytest.raises(SettingsError, match=r"Workflows/Ann/Mine\.json"):
        user.discussion_settings()


def test_a_request_sees_an_edit_from_its_next_node_on(tmp_path):
    user = user_of(tmp_path, {"Workflows/Ann/Mine.json": {"lookbackStartTurn": 9}}, **{KEY: "Mine"})
    glance = user.tree.glance("Ann")
    assert glance.discussion_settings().lookback == 9
    (user.tree.root / "Workflows/Ann/Mine.json").write_text('{"lookbackStartTurn": 10}')
    assert glance.discussion_settings().lookback == 9
    glance.look_again()
    assert glance.discussion_settings().lookback == 10
