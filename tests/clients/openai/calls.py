"""The `openai` package: everything it can ask of chat arrives as it was said, and so does the answer."""

import json

import openai
import pytest
from mnemoir_calls import PIXEL, USER
from openai_kit import asking, client

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


@pytest.fixture
def sdk(servers):
    with client(servers["openai"]) as made:
        yield made


@pytest.fixture
def chat(sdk):
    return asking(sdk)


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
