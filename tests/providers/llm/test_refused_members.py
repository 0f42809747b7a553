"""A member of ours that a server refuses is left out: asked once more, and never again sent there."""

from typing import Any

import pytest

from mnemoir.core.errors import ProviderRefused
from mnemoir.core.events import Note
from mnemoir.core.messages import Extra, JsonSchema, ModelRequest, Sampling, text_message
from mnemoir.providers.llm.ollama_chat import OllamaChat
from mnemoir.providers.llm.openai_chat import OpenAIChat
from mnemoir.providers.llm.openai_responses import OpenAIResponses
from mnemoir.providers.llm.remote_model import RemoteModel
from tests.providers.llm.conftest import NewModel
from tests.scripted_llm import Asked, ScriptedLLM, failure

HELLO = (text_message("user", "Hello"),)
LOCAL = {"chat_template_kwargs": {"enable_thinking": False}}


def refuse(
    llm: ScriptedLLM, name: str, status: int = 400, message: str = "Extra inputs: {} is not permitted"
) -> None:
    def has_it(asked: Asked) -> bool:
        return name in (asked.body or {})

    llm.rule(has_it, failure(status, message.format(name)))


def request(**members: Any) -> ModelRequest:
    return ModelRequest(messages=HELLO, **members)


OURS = [
    ("stream_options", 422, request(), {}),
    ("max_completion_tokens", 400, request(model="o3-mini", sampling=Sampling(max_tokens=9)), {"max_tokens": 9}),
    ("reasoning_effort", 400, request(model="gpt-5-mini", think=False), {}),
    ("reasoning_effort", 400, request(reasoning_effort="medium", added=("reasoning_effort",)), {}),
    (
        *("chat_template_kwargs", 422),
        request(extra=Extra(route="openai-chat", members=LOCAL), added=("chat_template_kwargs",)),
        {},
    ),
]


@pytest.mark.parametrize(("name", "status", "asked", "instead"), OURS)
async def test_a_member_of_ours_is_left_out_after_one_refusal(
    new_model: NewModel, llm: ScriptedLLM, name: str, status: int, asked: ModelRequest, instead: dict[str, Any]
) -> None:
    refuse(llm, name, status)
    for count in (2, 3):  # the second call knows
        model = new_model(OpenAIChat, tries=1)  # a new one, as after a change of settings
        events = [event async for batch in model.stream(asked) for event in batch]
        (note,) = (event.text for event in events if isinstance(event, Note))
        assert repr(name) in note
        assert all(repr(other) in note for other in instead)
        assert len(llm.requests) == count
        assert name not in llm.requests[-1].body
        assert instead.items() <= llm.requests[-1].body.items()


async def test_responses_are_asked_again_without_store(new_model: NewModel, llm: ScriptedLLM) -> None:
    refuse(llm, "store")
    for model in (new_model(OpenAIResponses), new_model(OpenAIResponses)):  # the second one knows
        reply = await model.ask(request())
        assert reply.text
        assert "store" not in llm.requests[-1].body
        assert list(reply.notes) == ["The model's server does not know 'store', so it was asked without."]


FACTS = JsonSchema(name="facts", schema={"type": "object"}, strict=True)
OF_MEMORY = request(
    output=FACTS,
    think=False,
    sampling=Sampling(max_tokens=9),
    added=("response_format", "max_tokens", "think"),
)
NEWER = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
OF_CALLS = [
    (OpenAIChat, "response_format", "response_format: extra fields not permitted", {"max_tokens": 9}),
    (OpenAIChat, "response_format", "This server does not support json_schema", {"max_tokens": 9}),
    (OpenAIChat, "max_tokens", NEWER, {"max_completion_tokens": 9}),
    (OpenAIChat, "max_tokens", "unknown member max_tokens", {}),
    (OpenAIResponses, "text", "Unsupported parameter: 'text.format'", {"max_output_tokens": 9}),
    (OpenAIResponses, "max_output_tokens", "unknown: max_output_tokens", {}),
    (OllamaChat, "format", 'json: unknown field "format"', {"options": {"num_predict": 9}}),
    (OllamaChat, "think", 'json: unknown field "think"', {}),
]


@pytest.mark.parametrize(("kind", "name", "message", "rest"), OF_CALLS)
async def test_what_memorys_calls_add_is_left_out_after_one_refusal(
    new_model: NewModel, llm: ScriptedLLM, kind: type[RemoteModel], name: str, message: str, rest: dict[str, Any]
) -> None:
    refuse(llm, name, message=message)
    for count in (2, 3):
        assert (await new_model(kind, tries=1).ask(OF_MEMORY)).text
        assert len(llm.requests) == count
        assert name not in llm.requests[-1].body
        assert rest.items() <= llm.requests[-1].body.items()


async def test_members_that_are_refused_one_behind_the_other_are_all_left_out(
    new_model: NewModel, llm: ScriptedLLM
) -> None:
    for name in ("response_format", "max_tokens", "max_completion_tokens"):
        refuse(llm, name, message="{} is not known; take max_completion_tokens or response_format")
    assert (await new_model(OpenAIChat, tries=1).ask(OF_MEMORY)).text
    assert llm.requests[-1].body.keys() == {"model", "messages"}


async def test_what_a_client_asks_for_by_these_members_stays(new_model: NewModel, llm: ScriptedLLM) -> None:
    refuse(llm, "response_format")
    await new_model(OpenAIChat, tries=1).ask(OF_MEMORY)
    with pytest.raises(ProviderRefused, match="is not permitted"):
        await new_model(OpenAIChat).ask(request(output=FACTS))


THEIRS = [
    ("reasoning_effort", request(reasoning_effort="high")),
    ("stream_options", request(extra=Extra(route="openai-chat", members={"stream_options": {"x": 1}}))),
    ("chat_template_kwargs", request(extra=Extra(route="openai-chat", members=LOCAL))),
    ("reasoning_effort", request(options={"reasoning_effort": "low"})),
]


@pytest.mark.parametrize(("name", "asked"), THEIRS)
async def test_a_member_that_somebody_wrote_is_refused_in_the_servers_words(
    new_model: NewModel, llm: ScriptedLLM, name: str, asked: ModelRequest
) -> None:
    refuse(llm, name)
    with pytest.raises(ProviderRefused, match="is not permitted"):
        _ = [batch async for batch in new_model(OpenAIChat).stream(asked)]
    assert len(llm.requests) == 1


@pytest.mark.parametrize(
    ("status", "message"), [(400, "something else"), (400, "my_stream_options_x"), (404, "{}"), (401, "{}")]
)
async def test_another_refusal_is_told_at_once(
    new_model: NewModel, llm: ScriptedLLM, status: int, message: str
) -> None:
    refuse(llm, "stream_options", status, message)
    with pytest.raises(ProviderRefused):
        _ = [batch async for batch in new_model(OpenAIChat).stream(request())]
    assert len(llm.requests) == 1


async def test_another_model_and_another_address_are_asked_as_usual(new_model: NewModel, llm: ScriptedLLM) -> None:
    refuse(llm, "stream_options")
    _ = [batch async for batch in new_model(OpenAIChat).stream(request())]
    llm.clear()
    _ = [batch async for batch in new_model(OpenAIChat).stream(request(model="other"))]
    assert "stream_options" in llm.requests[0].body
    llm.clear()
    _ = [batch async for batch in new_model(OpenAIChat, base_url=f"{llm.openai_url}/").stream(request())]
    assert "stream_options" in llm.requests[0].body


async def test_a_second_refusal_is_told(new_model: NewModel, llm: ScriptedLLM) -> None:
    llm.rule(lambda _: True, failure(400, "stream_options is not permitted, and all else is wrong"))
    with pytest.raises(ProviderRefused, match="all else"):
        _ = [batch async for batch in new_model(OpenAIChat).stream(request())]
    assert len(llm.requests) == 2


async def test_a_protocol_without_such_members_is_asked_once(new_model: NewModel, llm: ScriptedLLM) -> None:
    llm.rule(lambda _: True, failure(400, "stream_options is not permitted"))
    with pytest.raises(ProviderRefused):
        await new_model(OllamaChat).ask(request())
    assert len(llm.requests) == 1


UNKNOWN = [
    (OpenAIResponses, "store", "Unknown parameter: 'store'.", {"param": "store", "code": "unknown_parameter"}),
    (OpenAIResponses, "store", "store: Extra inputs are not permitted", {}),
    (OpenAIResponses, "store", "{'type': 'extra_forbidden', 'loc': ('body', 'store'), 'msg': 'Extra inputs'}", {}),
    (OpenAIResponses, "store", 'Invalid JSON payload received. Unknown name "store": Cannot find field.', {}),
    (OpenAIResponses, "store", "property 'store' is unsupported", {}),
    (OpenAIResponses, "store", "create() got an unexpected keyword argument 'store'", {}),
    (OpenAIResponses, "store", "Additional properties are not allowed ('seed', 'store' were unexpected)", {}),
    (OpenAIResponses, "store", "unknown field `store`, expected one of `model`, `input`", {}),
    (OpenAIChat, "max_completion_tokens", "Unrecognized request arguments supplied: a, max_completion_tokens", {}),
    (OpenAIChat, "max_completion_tokens", "The parameter max_completion_tokens is not supported here", {}),
    (OpenAIChat, "max_completion_tokens", "body.max_completion_tokens.any: Extra inputs are not permitted", {}),
    (OpenAIChat, "max_completion_tokens", "No.", {"param": "max_completion_tokens", "code": "unknown_parameter"}),
]


@pytest.mark.parametrize(("kind", "name", "message", "names"), UNKNOWN)
async def test_a_server_that_does_not_know_a_member_is_asked_without_it(
    new_model: NewModel, llm: ScriptedLLM, kind: type[RemoteModel], name: str, message: str, names: dict[str, str]
) -> None:
    llm.rule(lambda asked: name in (asked.body or {}), failure(400, message, **names))
    asked = request(model="o3-mini", sampling=Sampling(max_tokens=9))
    assert (await new_model(kind, tries=1).ask(asked)).text
    assert len(llm.requests) == 2
    assert name not in llm.requests[-1].body


OF_A_TOOL = {"param": "tools[0].parameters", "code": "invalid_function_parameters"}
OTHERWISE = [
    ("Invalid schema for function 'store': 'additionalProperties' is required to be supplied.", OF_A_TOOL),
    ("Unknown parameter: 'store'.", {"param": "input[0].store", "code": "unknown_parameter"}),
    ("Input contains: I went to the store, which is not allowed", {"code": "content_policy"}),
    ("We could not find the item in the store you named; open the store page.", {}),
    ("I went to the unknown store is no prompt", {}),
    ("Going to the store is not allowed", {}),
    ("Prompt too long: 'what are stream_options and store in the API'", {"code": "context_length_exceeded"}),
    ("max_completion_tokens is too large: 999999", {"param": "max_completion_tokens", "code": "invalid_value"}),
    ("max_output_tokens is too large", {"param": "max_output_tokens"}),
    ("Unsupported value: 'store' does not support false", {"param": "store", "code": "unsupported_value"}),
    ("unknown field `seed`, expected one of `store`, `stream_options`, `max_completion_tokens`", {}),
    ("Please restore the stored_file first, storefront", {}),
]


@pytest.mark.parametrize("kind", [OpenAIChat, OpenAIResponses])
@pytest.mark.parametrize(("message", "names"), OTHERWISE)
async def test_a_refusal_that_only_mentions_a_member_is_told_and_takes_nothing_away(
    new_model: NewModel, llm: ScriptedLLM, kind: type[RemoteModel], message: str, names: dict[str, str]
) -> None:
    llm.rule(lambda _: True, failure(400, message, **names))
    asked = request(model="o3-mini", sampling=Sampling(max_tokens=9))
    for count in (1, 2):
        with pytest.raises(ProviderRefused):
            _ = [batch async for batch in new_model(kind, tries=1).stream(asked)]
        assert len(llm.requests) == count
    assert llm.requests[0].body == llm.requests[1].body
