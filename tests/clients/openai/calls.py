"""The `openai` package: everything it can ask of chat, completions and embeddings arrives as it was said."""

import json

import openai
import pytest
from mnemoir_calls import MODEL, PARAMETERS, PIXEL, USER, WEATHER, call
from pydantic import BaseModel

TOOL = {"type": "function", "function": WEATHER}
TWO_CALLS = [("weather", {"city": "Graz"}), ("weather", {"city": "Linz"})]

# what a request of OpenAI chat may hold and Mnemoir has no use for
UNUSED = {
    "logit_bias": {"42": -100},
    "logprobs": True,
    "top_logprobs": 2,
    "parallel_tool_calls": False,
    "modalities": ["text"],
    "prediction": {"type": "content", "content": "Snow."},
    "prompt_cache_key": "weather",
    "safety_identifier": "someone",
    "service_tier": "flex",
    "verbosity": "low",
}
# what local model servers and gateways know besides
LOCAL = {
    "top_k": 20,
    "min_p": 0.05,
    "repetition_penalty": 1.1,
    "chat_template_kwargs": {"enable_thinking": False},
    "guided_choice": ["snow", "sun"],
    "grammar": 'root ::= "snow"',
    "cache_prompt": True,
    "num_ctx": 8192,
    "thinking": {"type": "disabled"},
    "provider": {"order": ["far"]},
}
CODES = [
    (400, "context_length_exceeded", openai.BadRequestError),
    (401, "invalid_api_key", openai.AuthenticationError),
    (403, "unsupported_country", openai.PermissionDeniedError),
    (404, "model_not_found", openai.NotFoundError),
    (422, None, openai.UnprocessableEntityError),
    (429, "insufficient_quota", openai.RateLimitError),
    (500, None, openai.InternalServerError),
    (503, None, openai.InternalServerError),
]


class Weather(BaseModel):
    city: str
    snow: bool


def client(url):
    return openai.OpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0)


@pytest.fixture
def chat(servers):
    """The chat route of a server in front of an OpenAI server."""
    with client(servers["openai"]) as made:
        yield lambda **more: made.chat.completions.create(**{"model": MODEL, "messages": [USER], **more})


@pytest.fixture
def sdk(servers):
    with client(servers["openai"]) as made:
        yield made


def dropped(servers, name, **more):
    """The members that a server says it dropped."""
    with client(servers[name]) as made:
        raw = made.chat.completions.with_raw_response.create(model=MODEL, messages=[USER], **more)
    return {part.strip() for part in raw.headers.get("x-mnemoir-dropped", "").split(",") if part.strip()}


# --- answers


def test_an_answer_comes_whole(chat, far):
    far.says("Snow.")
    answer = chat()
    assert (answer.choices[0].message.content, answer.choices[0].finish_reason) == ("Snow.", "stop")
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (7, 5)


def test_an_answer_streams_under_one_id_and_tells_its_usage_when_asked(chat, far):
    far.says("Much snow today.")
    chunks = list(chat(stream=True, stream_options={"include_usage": True}))
    assert "".join(one.choices[0].delta.content or "" for one in chunks if one.choices) == "Much snow today."
    assert len({one.id for one in chunks}) == 1
    assert chunks[-1].usage.completion_tokens == 5


def test_a_stream_tells_no_usage_unless_asked(chat, far):
    far.says("Snow.")
    assert [one.usage for one in chat(stream=True) if one.usage] == []


@pytest.mark.parametrize("reason", ["length", "content_filter"])
def test_a_finish_reason_arrives(chat, far, reason):
    far.says("Snow", reason=reason)
    assert chat().choices[0].finish_reason == reason


def test_what_else_an_answer_holds_comes_back(chat, far):
    logprobs = {"content": [{"token": "Snow", "logprob": -0.1, "bytes": [83], "top_logprobs": []}], "refusal": None}
    cited = [{"type": "url_citation", "url_citation": {"start_index": 0, "end_index": 4, "title": "t", "url": "u"}}]
    details = {"reasoning_tokens": 3}
    usage = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12, "completion_tokens_details": details}
    far.says_message(
        {"role": "assistant", "content": "Snow", "annotations": cited},
        choice={"logprobs": logprobs},
        service_tier="flex",
        system_fingerprint="fp_1",
        usage=usage,
    )
    answer = chat(logprobs=True)
    assert answer.choices[0].logprobs.content[0].token == "Snow"
    assert answer.choices[0].message.annotations[0].url_citation.url == "u"
    assert (answer.service_tier, answer.system_fingerprint) == ("flex", "fp_1")
    assert answer.usage.completion_tokens_details.reasoning_tokens == 3


def test_what_else_a_stream_holds_comes_back(chat, far):
    logprobs = {"content": [{"token": "Snow", "logprob": -0.1, "bytes": [83], "top_logprobs": []}], "refusal": None}
    far.says_choices(
        {"delta": {"role": "assistant", "content": "Snow"}, "logprobs": logprobs},
        {"delta": {}, "finish_reason": "stop"},
        service_tier="flex",
        system_fingerprint="fp_1",
    )
    chunks = list(chat(stream=True, logprobs=True))
    (told,) = [one.choices[0].logprobs for one in chunks if one.choices and one.choices[0].logprobs]
    assert told.content[0].token == "Snow"
    assert {one.system_fingerprint for one in chunks if one.choices} >= {"fp_1"}


def test_several_choices_arrive_whole(chat, far):
    one, two = ({"message": {"role": "assistant", "content": text}, "finish_reason": "stop"} for text in ("a", "b"))
    far.says_whole([one, two])
    answer = chat(n=2)
    assert [choice.message.content for choice in answer.choices] == ["a", "b"]
    assert far.body["n"] == 2


def test_several_choices_arrive_streamed_by_their_index(chat, far):
    far.says_choices(
        {"index": 0, "delta": {"content": "a"}},
        {"index": 1, "delta": {"content": "b"}},
        {"index": 1, "delta": {}, "finish_reason": "length"},
        {"index": 0, "delta": {}, "finish_reason": "stop"},
    )
    texts, reasons = {0: "", 1: ""}, {}
    for choice in [choice for one in chat(n=2, stream=True) for choice in one.choices]:
        texts[choice.index] += choice.delta.content or ""
        reasons |= {choice.index: choice.finish_reason} if choice.finish_reason else {}
    assert (texts, reasons) == ({0: "a", 1: "b"}, {0: "stop", 1: "length"})


def test_too_many_choices_are_refused(chat, far):
    with pytest.raises(openai.BadRequestError, match="n"):
        chat(n=9)
    assert far.asked == []


# --- requests


@pytest.mark.parametrize("stream", [False, True])
def test_members_that_mnemoir_does_not_use_arrive_as_sent(chat, far, stream):
    sent = chat(**UNUSED, extra_body=LOCAL, stream=stream)
    list(sent)
    assert {name: far.body.get(name) for name in UNUSED | LOCAL} == UNUSED | LOCAL


def test_members_that_mnemoir_uses_arrive(chat, far):
    used = {"temperature": 0.5, "top_p": 0.9, "seed": 7, "stop": ["END"], "max_tokens": 50, "presence_penalty": 0.1}
    used |= {"frequency_penalty": 0.2, "reasoning_effort": "minimal"}
    chat(**used)
    assert {name: far.body.get(name) for name in used} == used


def test_what_speaks_to_mnemoir_alone_goes_no_further(chat, far):
    chat(user="canary-user", metadata={"about": "canary-metadata"}, store=False)
    assert "canary" not in json.dumps(far.asked)
    assert far.body.get("store", False) is False


def test_a_picture_arrives_as_sent(chat, far):
    content = [
        {"type": "text", "text": "What is it?"},
        {"type": "image_url", "image_url": {"url": PIXEL, "detail": "low"}},
        {"type": "image_url", "image_url": {"url": "http://127.0.0.1/kite.png"}},
    ]
    chat(messages=[{"role": "user", "content": content}])
    assert far.body["messages"][-1]["content"] == content


def test_sound_and_files_arrive_as_sent(chat, far):
    content = [
        {"type": "text", "text": "What is said?"},
        {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0="}},
    ]
    chat(messages=[{"role": "user", "content": content}])
    assert far.body["messages"][-1]["content"] == content


def test_members_of_messages_arrive_as_sent(chat, far):
    cached = [{"type": "text", "text": "Long rules.", "cache_control": {"type": "ephemeral"}}]
    thought = {"role": "assistant", "content": "Yes.", "reasoning_content": "The user asks."}
    messages = [{"role": "system", "content": cached}, USER, thought, USER]
    chat(messages=messages)
    assert far.body["messages"][0]["content"] == cached
    assert far.body["messages"][2]["reasoning_content"] == "The user asks."


# --- tools and structured output


def test_tools_are_called_and_their_results_go_back(chat, far):
    far.says(tool_calls=TWO_CALLS)
    message = chat(tools=[TOOL], tool_choice="required").choices[0].message
    assert [json.loads(one.function.arguments)["city"] for one in message.tool_calls] == ["Graz", "Linz"]
    assert far.body["tools"] == [TOOL]
    far.clear()
    results = [{"role": "tool", "tool_call_id": one.id, "content": "Snow."} for one in message.tool_calls]
    chat(messages=[USER, message.model_dump(exclude_none=True), *results], tools=[TOOL])
    assert [one["tool_call_id"] for one in far.body["messages"][-2:]] == [one.id for one in message.tool_calls]


def test_tools_are_called_in_a_stream(chat, far):
    far.says(tool_calls=TWO_CALLS)
    deltas = [one.choices[0].delta for one in chat(tools=[TOOL], stream=True) if one.choices]
    arguments = {0: "", 1: ""}
    for part in [part for delta in deltas for part in delta.tool_calls or []]:
        arguments[part.index] += part.function.arguments or ""
    assert [json.loads(text)["city"] for text in arguments.values()] == ["Graz", "Linz"]


def test_old_functions_become_tools_and_come_back_as_a_function_call(chat, far):
    far.says(tool_calls=TWO_CALLS[:1])
    choice = chat(functions=[WEATHER], function_call={"name": "weather"}).choices[0]
    assert json.loads(choice.message.function_call.arguments) == {"city": "Graz"}
    assert choice.finish_reason == "function_call"
    assert far.body["tools"] == [TOOL]
    assert far.body["tool_choice"] == {"type": "function", "function": {"name": "weather"}}


@pytest.mark.parametrize("strict", [True, False, None])
def test_strict_and_description_of_a_schema_arrive_as_sent(chat, far, strict):
    told = {} if strict is None else {"strict": strict}
    closed = {**PARAMETERS, "additionalProperties": False}
    for schema in (PARAMETERS, closed):
        form = {"name": "weather", "description": "One city.", "schema": schema, **told}
        tool = {"type": "function", "function": {**WEATHER, "parameters": schema, **told}}
        far.clear()
        chat(response_format={"type": "json_schema", "json_schema": form}, tools=[tool])
        assert far.body["response_format"]["json_schema"] == form
        assert far.body["tools"] == [tool]


def test_an_answer_is_parsed(sdk, far):
    far.says('{"city": "Graz", "snow": true}')
    answer = sdk.chat.completions.parse(model=MODEL, messages=[USER], response_format=Weather)
    assert answer.choices[0].message.parsed == Weather(city="Graz", snow=True)


def test_a_refusal_stays_a_refusal(sdk, far):
    far.says_message({"role": "assistant", "content": None, "refusal": "I cannot help with that."})
    answer = sdk.chat.completions.parse(model=MODEL, messages=[USER], response_format=Weather)
    assert answer.choices[0].message.parsed is None
    assert (answer.choices[0].message.refusal, answer.choices[0].finish_reason) == (
        "I cannot help with that.",
        "stop",
    )


def test_a_refusal_streams_as_a_refusal(chat, far):
    far.says_choices(
        {"delta": {"role": "assistant", "refusal": "I cannot "}},
        {"delta": {"refusal": "help."}},
        {"delta": {}, "finish_reason": "stop"},
    )
    choices = [one.choices[0] for one in chat(stream=True) if one.choices]
    assert "".join(choice.delta.refusal or "" for choice in choices) == "I cannot help."
    assert choices[-1].finish_reason == "stop"


# --- errors


@pytest.mark.parametrize(("status", "code", "error"), CODES)
@pytest.mark.parametrize("stream", [False, True])
def test_an_error_keeps_its_class_and_its_code(chat, far, status, code, error, stream):
    far.fails(status, code=code)
    with pytest.raises(error, match="said the far side") as caught:
        chat(stream=stream)
    assert caught.value.code == code if code else caught.value.code != ""
    assert len(far.asked) == 1


def test_a_long_wait_is_left_to_the_client(chat, far):
    far.fails(429, Retry_After="30")
    with pytest.raises(openai.RateLimitError) as caught:
        chat()
    assert caught.value.response.headers["retry-after"] == "30"
    assert len(far.asked) == 1


def test_an_answer_that_breaks_off_is_an_error(chat, far):
    far.says("One two three", cut_after=1)
    with pytest.raises(openai.APIError):
        list(chat(stream=True))


def test_a_value_that_the_protocol_forbids_is_refused(chat, far):
    with pytest.raises(openai.BadRequestError, match="temperature"):
        chat(extra_body={"temperature": "hot"})
    assert far.asked == []


# --- completions, embeddings, models


def test_a_text_is_completed_whole_and_streamed(sdk, far):
    far.says("upon a time")
    assert sdk.completions.create(model=MODEL, prompt="Once").choices[0].text == "upon a time"
    far.says("upon a time")
    chunks = sdk.completions.create(model=MODEL, prompt="Once", stream=True)
    assert "".join(one.choices[0].text for one in chunks if one.choices) == "upon a time"


def test_a_completion_with_members_of_its_own_goes_to_completions_as_sent(sdk, far):
    own = {"suffix": " the end", "echo": True, "logprobs": 1, "best_of": 2}
    far.says("upon a time")
    assert sdk.completions.create(model=MODEL, prompt="Once", **own).choices[0].text == "upon a time"
    assert far.path == "/v1/completions"
    assert {name: far.body.get(name) for name in ("prompt", *own)} == {"prompt": "Once", **own}


def test_each_prompt_of_a_list_is_completed(sdk, far):
    choices = [{"text": text, "index": at, "logprobs": None, "finish_reason": "stop"} for at, text in enumerate("ab")]
    answer = {"id": "cmpl", "object": "text_completion", "created": 1, "model": MODEL, "choices": choices}
    far.says_json(answer)
    made = sdk.completions.create(model=MODEL, prompt=["one", "two"])
    assert [choice.text for choice in made.choices] == ["a", "b"]
    assert far.body["prompt"] == ["one", "two"]


def test_texts_are_embedded(sdk, far):
    made = sdk.embeddings.create(model="text-embedding-3-small", input=["one", "two"])
    assert [len(item.embedding) for item in made.data] == [16, 16]
    plain = sdk.embeddings.create(model="text-embedding-3-small", input="one", encoding_format="float")
    assert plain.data[0].embedding == pytest.approx(made.data[0].embedding, abs=1e-6)


def test_tokens_are_embedded_as_sent(sdk, far):
    far.embeds([[1.0, 0.0], [0.0, 1.0]])
    made = sdk.embeddings.create(model="text-embedding-3-small", input=[[1, 2, 3], [4]], encoding_format="float")
    assert [item.embedding for item in made.data] == [[1.0, 0.0], [0.0, 1.0]]
    assert far.body["input"] == [[1, 2, 3], [4]]


def test_tokens_are_refused_by_name_where_no_vocabulary_is_at_hand(servers, far):
    with client(servers["tree"]) as made, pytest.raises(openai.BadRequestError, match="cl100k"):
        made.embeddings.create(model="text-embedding-3-small", input=[1, 2, 3])


def test_models_are_listed_and_found(sdk):
    assert MODEL in [model.id for model in sdk.models.list()]
    assert sdk.models.retrieve(MODEL).id == MODEL
    with pytest.raises(openai.NotFoundError):
        sdk.models.retrieve("no-such/model")


# --- other protocols behind


def test_an_ollama_server_behind_gets_what_can_be_translated_and_the_rest_is_named(servers, far):
    assert dropped(servers, "ollama", logit_bias={"42": 1}, parallel_tool_calls=False, seed=7) == {
        "logit_bias",
        "parallel_tool_calls",
    }
    assert far.body["options"]["seed"] == 7


def test_a_responses_server_behind_gets_what_can_be_translated_and_the_rest_is_named(servers, far):
    told = dropped(servers, "responses", seed=7, presence_penalty=0.5, logit_bias={"42": 1}, temperature=0.5)
    assert told == {"seed", "presence_penalty", "logit_bias"}
    assert far.body["temperature"] == 0.5


def test_stop_texts_end_an_answer_of_a_responses_server(servers, far):
    with client(servers["responses"]) as made:
        far.says("Snow. END Sun.")
        answer = made.chat.completions.create(model=MODEL, messages=[USER], stop=["END"])
    assert answer.choices[0].message.content.rstrip() == "Snow."


def test_a_late_system_message_keeps_its_place_for_a_responses_server(servers, far):
    late = {"role": "system", "content": "LATE"}
    said = {"role": "assistant", "content": "Yes."}
    with client(servers["responses"]) as made:
        made.chat.completions.create(
            model=MODEL, messages=[{"role": "system", "content": "A"}, USER, said, late, USER]
        )
    assert far.body.get("instructions", "A") == "A"
    assert [item["role"] for item in far.body["input"]][-4:] == ["user", "assistant", "system", "user"]


# --- the examples of `mnemoir init`


@pytest.fixture
def tree(servers):
    with client(servers["tree"]) as made:
        yield lambda **more: made.chat.completions.create(**{"model": "single-model", "messages": [USER], **more})


def test_an_example_passes_tools_and_samplers(tree, far):
    far.says(tool_calls=TWO_CALLS)
    message = tree(tools=[TOOL], parallel_tool_calls=True, extra_body={"top_k": 20}).choices[0].message
    assert [one.function.name for one in message.tool_calls] == ["weather", "weather"]
    assert (far.body["tools"], far.body["top_k"], far.body["parallel_tool_calls"]) == ([TOOL], 20, True)


def test_an_example_passes_structured_output(servers, far):
    far.says('{"city": "Graz", "snow": true}')
    with client(servers["tree"]) as made:
        answer = made.chat.completions.parse(model="single-model", messages=[USER], response_format=Weather)
    assert answer.choices[0].message.parsed == Weather(city="Graz", snow=True)
    assert far.body["response_format"]["json_schema"]["strict"] is True


def test_an_example_passes_pictures(tree, far):
    picture = {"type": "image_url", "image_url": {"url": PIXEL}}
    tree(messages=[{"role": "user", "content": [{"type": "text", "text": "What is it?"}, picture]}])
    assert PIXEL in json.dumps(far.body["messages"])


def test_an_example_streams_tools(tree, far):
    far.says(tool_calls=TWO_CALLS[:1])
    deltas = [one.choices[0].delta for one in tree(tools=[TOOL], stream=True) if one.choices]
    assert "weather" in [part.function.name for delta in deltas for part in delta.tool_calls or []]


def test_a_tool_call_keeps_members_that_only_its_provider_knows(chat, far):
    signed = call("weather", '{"city": "Graz"}') | {"extra_content": {"signature": "s-1"}}
    far.says_message({"role": "assistant", "content": None, "tool_calls": [signed]}, finish="tool_calls")
    (made,) = chat(tools=[TOOL]).choices[0].message.tool_calls
    assert made.model_dump()["extra_content"] == {"signature": "s-1"}
