"""The options sent beside a prompt."""

import pytest

from mnemoir.workflows.config.endpoint import ApiType
from mnemoir.workflows.prompting.options import options

PRESET = {"temperature": 0.5, "max_tokens": 7, "custom": "x"}


def api_type(kind, truncate=None, most="max_tokens", stream="stream"):
    return ApiType.model_validate(
        {
            "type": kind,
            "truncateLengthPropertyName": truncate,
            "maxNewTokensPropertyName": most,
            "streamPropertyName": stream,
        }
    )


@pytest.mark.parametrize(
    ("protocol", "added"),
    [
        (api_type("openAIChatCompletion"), {"max_tokens": 50, "stream": False}),
        (
            api_type("openAIChatCompletion", "truncation_length", "n_predict"),
            {"truncation_length": 8192, "n_predict": 50, "stream": False},
        ),
        (
            api_type("koboldCppGenerate", "max_context_length", "max_length"),
            {"max_context_length": 8192, "max_length": 50, "stream": False},
        ),
        (api_type("ollamaApiChat", "num_ctx", "num_predict"), {"num_ctx": 8192, "num_predict": 50}),
        (api_type("ollamaApiGenerate", "num_ctx", "num_predict"), {"num_ctx": 8192, "num_predict": 50}),
        (api_type("openAIApiChatImageSpecific", "max_tokens"), {"max_tokens": 50, "stream": False}),
        (api_type("openAIV1Completion", None, None, None), {}),
    ],
)
def test_the_named_members_overwrite_the_preset(protocol, added):
    assert options([PRESET], protocol, context_tokens=8192, max_tokens=50, stream=False) == {**PRESET, **added}


def test_nulls_of_a_preset_are_not_sent():
    sent = options([{"top_k": None, "top_p": 0}], api_type("x"), context_tokens=None, max_tokens=5, stream=True)
    assert sent == {"top_p": 0, "max_tokens": 5, "stream": True}


def test_a_stream_flag_in_the_preset_of_an_ollama_model_is_not_sent():
    sent = options([{"stream": True}], api_type("ollamaApiChat"), context_tokens=None, max_tokens=5, stream=True)
    assert sent == {"max_tokens": 5}


def test_an_endpoint_without_a_context_size_sends_none():
    sent = options([{}], api_type("koboldCppGenerate", "cut"), context_tokens=None, max_tokens=5, stream=False)
    assert sent == {"max_tokens": 5, "stream": False}


def test_the_preset_itself_is_not_changed():
    preset = dict(PRESET)
    options([preset], api_type("openAIChatCompletion"), context_tokens=1, max_tokens=2, stream=True)
    assert preset == PRESET


def sent_of(*layers, protocol=None):
    """The options of these layers, without the three members that are always sent."""
    named = ApiType.model_validate({"type": "openAIChatCompletion"})
    return options(layers, protocol or named, context_tokens=None, max_tokens=5, stream=True)


def test_objects_of_two_layers_are_merged_and_all_else_of_the_upper_one_replaces():
    lower = {"top_k": 4, "stop": ["a", "b"], "chat_template_kwargs": {"budget": 9, "more": {"x": 1}}}
    upper = {"top_k": 5, "stop": ["c"], "chat_template_kwargs": {"more": {"y": 2}}}
    merged = {"top_k": 5, "stop": ["c"], "chat_template_kwargs": {"budget": 9, "more": {"x": 1, "y": 2}}}
    assert sent_of(lower, upper) == merged


def test_a_null_removes_a_member_of_a_lower_layer_at_any_depth():
    lower = {"top_k": 4, "top_p": 1, "more": {"a": 1, "b": 2}}
    assert sent_of(lower, {"top_k": None, "more": {"a": None}}) == {"top_p": 1, "more": {"b": 2}}


def test_a_higher_layer_can_set_again_a_member_removed_by_null():
    assert sent_of({"top_k": 4}, {"top_k": None}, {"top_k": 6}) == {"top_k": 6}


def test_one_word_sends_a_null_itself_but_not_within_a_list():
    layer = {"draft": "__wilmer_null__", "more": {"x": "__wilmer_null__"}, "stop": ["__wilmer_null__"]}
    assert sent_of(layer) == {"draft": None, "more": {"x": None}, "stop": ["__wilmer_null__"]}


@pytest.mark.parametrize("layers", [[{"a": {}}], [{"a": {"b": {"c": None}}}], [{"a": {"b": 1}}, {"a": {"b": None}}]])
def test_objects_that_hold_nothing_are_not_sent(layers):
    assert sent_of(*layers) == {}


@pytest.mark.parametrize("name", ["json_schema", "grammar"])
def test_schemas_and_grammars_keep_their_nulls_and_replace_each_other(name):
    schema = {"properties": {"x": {"default": None, "enum": [None]}}, "required": {}}
    assert sent_of({name: {"other": 1}}, {name: schema}) == {name: schema}


def test_a_null_for_the_limit_or_the_context_leaves_it_to_the_server():
    named = api_type("openAIChatCompletion", "truncation_length", "n_predict")
    sent = options(
        [{"n_predict": None}, {"truncation_length": None, "stream": None}],
        named,
        context_tokens=9,
        max_tokens=5,
        stream=True,
    )
    assert sent == {"stream": True}


def test_a_limit_set_above_a_null_is_the_nodes_again():
    named = api_type("openAIChatCompletion")
    sent = options([{"max_tokens": None}, {"max_tokens": 9}], named, context_tokens=None, max_tokens=5, stream=True)
    assert sent == {"max_tokens": 5, "stream": True}
