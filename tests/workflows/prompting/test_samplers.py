"""Translation of canonical samplers to the names of each server."""

import pytest

from mnemoir.workflows.config.endpoint import ApiType
from mnemoir.workflows.prompting.options import CANONICAL, left_out, members_of_samplers
from mnemoir.workflows.starter import StarterServer, starter_files


def api_type(**members):
    names = {"temperature": "temperature", "repeat_penalty": "rep_pen", "stop": "stop_sequence"}
    return ApiType.model_validate({"type": "openAIChatCompletion", "samplerFieldMap": names, **members})


def switched(mode, location="top", field="think"):
    return {"thinking": {"mode": mode, "location": location, "field": field}}


def test_samplers_get_the_names_of_the_server():
    samplers = {"temperature": 0.5, "repeat_penalty": 1.1, "stop": ["x"]}
    assert members_of_samplers(samplers, api_type()) == {"temperature": 0.5, "rep_pen": 1.1, "stop_sequence": ["x"]}
    assert left_out(samplers, api_type(), "Kobold") == []


def test_samplers_without_a_name_at_the_server_are_left_out_and_named():
    samplers = {
        "min_p": 0.1,
        "dry_base": 2,
        "temperatur": 0.5,
        "chat_template_kwargs": {"x": 1},
        "thinkingMode": "on",
    }
    assert members_of_samplers(samplers, api_type()) == {}
    assert left_out(samplers, api_type(), "Kobold") == [
        "API type Kobold takes no min_p, dry_base, chat_template_kwargs, thinkingMode: left out of presetSamplers.",
        "presetSamplers has no sampler temperatur: left out.",
    ]


def test_a_null_is_passed_for_upper_layers_to_see_and_is_nothing_left_out():
    samplers = {"temperature": None, "min_p": None, "thinkingMode": None, "chat_template_kwargs": None}
    assert members_of_samplers(samplers, api_type()) == {"temperature": None}
    assert left_out(samplers, api_type(), "Kobold") == []


def test_many_names_are_counted_and_not_listed():
    (note,) = left_out({f"wrong{n}": 1 for n in range(25)}, api_type(), "Kobold")
    assert "wrong19 and 5 more" in note
    assert "wrong20" not in note


def test_a_name_mapped_to_nothing_is_not_sent():
    nameless = api_type(samplerFieldMap={"top_k": None, "top_p": ""})
    assert members_of_samplers({"top_k": 1, "top_p": 1}, nameless) == {}
    assert len(left_out({"top_k": 1, "top_p": 1}, nameless, "x")) == 1


@pytest.mark.parametrize(
    ("mode", "written"),
    [(off, False) for off in ("off", " OFF", False, "no", 0, "0", "none", "disabled")]
    + [(on, True) for on in ("on", True, "low", "medium", "high", "yes")],
)
def test_thinking_is_true_or_false_for_a_server_that_takes_a_flag(mode, written):
    assert members_of_samplers({"thinkingMode": mode}, api_type(**switched("bool"))) == {"think": written}


@pytest.mark.parametrize(
    ("mode", "written"),
    [("low", "low"), ("Medium", "medium"), ("high", "high"), ("on", "medium"), ("utmost", "medium"), ("off", None)],
)
def test_thinking_is_a_level_for_a_server_that_takes_an_effort_and_nothing_for_off(mode, written):
    sent = members_of_samplers({"thinkingMode": mode}, api_type(**switched("effort", field="reasoning_effort")))
    assert sent == ({} if written is None else {"reasoning_effort": written})
    assert left_out({"thinkingMode": mode}, api_type(**switched("effort")), "x") == []


def test_thinking_within_template_arguments_gives_way_to_what_is_written_there():
    llama = api_type(supportsChatTemplateKwargs=True, **switched("bool", "chat_template_kwargs", "enable_thinking"))
    sent = members_of_samplers({"thinkingMode": "off", "chat_template_kwargs": {"thinking_budget": 0}}, llama)
    assert sent == {"chat_template_kwargs": {"enable_thinking": False, "thinking_budget": 0}}
    written = {"thinkingMode": "off", "chat_template_kwargs": {"enable_thinking": True}}
    assert members_of_samplers(written, llama) == {"chat_template_kwargs": {"enable_thinking": True}}


@pytest.mark.parametrize(
    "members",
    [
        {},
        switched("unsupported"),
        switched("sideways"),
        switched("bool", field=""),
        switched("bool", "chat_template_kwargs"),
    ],
)
def test_a_server_without_a_switch_for_thinking_is_sent_none(members):
    assert members_of_samplers({"thinkingMode": "on"}, api_type(**members)) == {}
    assert "thinkingMode" in left_out({"thinkingMode": "on"}, api_type(**members), "x")[0]


def starter_api_types():
    for path, content in starter_files(StarterServer(url="http://127.0.0.1:1", api_type="Open-AI-API")).items():
        if "/ApiTypes/" in path:
            yield pytest.param(ApiType.model_validate_json(content), id=path.rpartition("/")[2])


@pytest.mark.parametrize("starter", list(starter_api_types()))
def test_every_api_type_of_the_starter_tree_names_the_samplers_that_all_servers_have(starter):
    samplers = {"temperature": 0.5, "top_p": 0.9, "seed": 7, "stop": ["x"]}
    assert list(members_of_samplers(samplers, starter).values()) == [0.5, 0.9, 7, ["x"]]
    assert left_out(samplers, starter, "x") == []
    assert [name for name in starter.sampler_names if name not in CANONICAL] == []
