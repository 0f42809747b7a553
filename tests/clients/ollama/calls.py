"""The `ollama` package: an Ollama behind gets everything as it was said, another server what can be translated."""

import json

import ollama
import pytest
from mnemoir_calls import MODEL, PIXEL, USER, WEATHER, call

TOOL = {"type": "function", "function": WEATHER}
CALLS = [("weather", {"city": "Graz"}), ("weather", {"city": "Linz"})]
OPTIONS = {
    "num_ctx": 8192,
    "top_k": 20,
    "min_p": 0.05,
    "repeat_penalty": 1.1,
    "mirostat": 2,
    "temperature": 0.5,
    "num_predict": 50,
    "stop": ["END"],
}
IMAGE = PIXEL.partition(",")[2]


@pytest.fixture
def client(servers):
    """In front of an Ollama."""
    return ollama.Client(host=servers["ollama"])


@pytest.fixture
def elsewhere(servers):
    """In front of an OpenAI server."""
    return ollama.Client(host=servers["openai"])


def ended(text, **members):
    """What Ollama says last."""
    times = {"total_duration": 9_000, "load_duration": 10, "prompt_eval_duration": 400, "eval_duration": 5_000}
    counts = {"prompt_eval_count": 7, "eval_count": 5}
    return {"model": MODEL, "created_at": "2026-01-01T00:00:00Z", "done": True, **text, **times, **counts, **members}


# --- chat


def test_an_answer_comes_whole_and_streamed(client, far):
    far.says("Much snow.")
    assert client.chat(MODEL, [USER]).message.content == "Much snow."
    far.says("Much snow.")
    parts = list(client.chat(MODEL, [USER], stream=True))
    assert "".join(part.message.content or "" for part in parts) == "Much snow."
    assert parts[-1].done_reason == "stop"


@pytest.mark.parametrize("stream", [False, True])
def test_all_options_and_keep_alive_arrive_as_sent(client, far, stream):
    list(client.chat(MODEL, [USER], options=OPTIONS, keep_alive="10m", stream=stream))
    assert far.path == "/api/chat"
    assert {name: far.body["options"].get(name) for name in OPTIONS} == OPTIONS
    assert far.body["keep_alive"] == "10m"


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("think", [True, False])
def test_thinking_is_asked_for_and_comes_back(client, far, think, stream):
    far.says("Snow.", thinking="It is winter.")
    answers = client.chat(MODEL, [USER], think=think, stream=stream)
    parts = list(answers) if stream else [answers]
    assert "".join(part.message.thinking or "" for part in parts) == "It is winter."
    assert far.body["think"] is think


def test_tools_are_called_and_their_results_go_back(client, far):
    far.says(tool_calls=CALLS)
    message = client.chat(MODEL, [USER], tools=[TOOL]).message
    assert [one.function.arguments for one in message.tool_calls] == [{"city": "Graz"}, {"city": "Linz"}]
    assert far.body["tools"][0]["function"]["name"] == "weather"
    far.clear()
    result = {"role": "tool", "content": "Snow.", "tool_name": "weather"}
    client.chat(MODEL, [USER, message, result], tools=[TOOL])
    assert far.body["messages"][-1]["tool_name"] == "weather"
    assert far.body["messages"][-2]["tool_calls"][0]["function"]["arguments"] == {"city": "Graz"}


def test_tools_are_called_in_a_stream(client, far):
    far.says(tool_calls=CALLS)
    parts = client.chat(MODEL, [USER], tools=[TOOL], stream=True)
    assert [one.function.name for part in parts for one in part.message.tool_calls or []] == ["weather", "weather"]


def test_a_call_with_broken_arguments_is_told_and_not_wrapped(elsewhere, far):
    broken = call("weather", '{"city": "Gr')
    far.says_message({"role": "assistant", "content": None, "tool_calls": [broken]}, finish="tool_calls")
    with pytest.raises(ollama.ResponseError, match="weather"):
        elsewhere.chat(MODEL, [USER], tools=[TOOL])


def test_a_refusal_of_another_server_is_the_content(elsewhere, far):
    far.says_message({"role": "assistant", "content": None, "refusal": "I cannot help with that."})
    assert elsewhere.chat(MODEL, [USER]).message.content == "I cannot help with that."


@pytest.mark.parametrize("form", ["json", WEATHER["parameters"]])
def test_a_format_arrives(client, far, form):
    far.says('{"city": "Graz"}')
    assert json.loads(client.chat(MODEL, [USER], format=form).message.content) == {"city": "Graz"}
    assert far.body["format"] == form


def test_a_picture_arrives(client, far):
    client.chat(MODEL, [{**USER, "images": [IMAGE]}])
    assert far.body["messages"][-1]["images"] == [IMAGE]


def test_times_are_those_of_the_model(client, far):
    far.says_json(ended({"message": {"role": "assistant", "content": "Snow."}}))
    answer = client.chat(MODEL, [USER])
    assert (answer.eval_count, answer.eval_duration) == (5, 5_000)


def test_times_are_measured_where_the_model_tells_none(elsewhere, far):
    far.says("Snow.")
    answer = elsewhere.chat(MODEL, [USER])
    assert answer.total_duration > 0
    assert answer.eval_duration > 0


# --- generate


def test_a_prompt_is_answered_whole_and_streamed(client, far):
    far.says("Much snow.")
    assert client.generate(MODEL, "Weather?").response == "Much snow."
    far.says("Much snow.")
    assert "".join(part.response for part in client.generate(MODEL, "Weather?", stream=True)) == "Much snow."


@pytest.mark.parametrize(
    "own",
    [
        {"raw": True},
        {"template": "{{ .Prompt }}"},
        {"suffix": " return x"},
        {"context": [1, 2, 3]},
        {"raw": True, "options": OPTIONS, "keep_alive": "5m"},
    ],
)
def test_members_that_only_generate_has_arrive_as_sent(client, far, own):
    far.says("x = 1")
    assert client.generate(MODEL, "def f():", **own).response == "x = 1"
    assert far.path == "/api/generate"
    assert {name: far.body.get(name) for name in ("prompt", *own)} == {"prompt": "def f():", **own}


def test_a_model_is_unloaded_by_the_ollama_behind(client, far):
    far.says_json(ended({"response": ""}, done_reason="unload"))
    assert client.generate(MODEL, "", keep_alive=0).done_reason == "unload"
    assert far.body["keep_alive"] == 0
    assert not far.body.get("prompt")
    assert not far.body.get("messages")


def test_a_model_is_loaded_by_the_ollama_behind(client, far):
    far.says_json(ended({"message": {"role": "assistant", "content": ""}}, done_reason="load"))
    assert client.chat(MODEL, []).done_reason == "load"
    assert not far.body.get("messages")


def test_loading_and_unloading_ask_no_other_model(elsewhere, far):
    assert elsewhere.generate(MODEL, "", keep_alive=0).done_reason == "unload"
    assert elsewhere.chat(MODEL, []).done_reason == "load"
    assert far.asked == []


# --- the rest


def test_texts_are_embedded(client, far):
    assert [len(vector) for vector in client.embed("far-embedder", ["one", "two"]).embeddings] == [16, 16]
    assert len(client.embeddings("far-embedder", "one").embedding) == 16


def test_models_are_listed_and_shown(client):
    assert f"{MODEL}:latest" in [model.model for model in client.list().models]
    shown = client.show(MODEL)
    assert {"completion", "tools"} <= set(shown.capabilities)
    assert client.ps().models


def test_an_error_keeps_its_status(client, far):
    for status in (400, 403, 404, 429, 503):
        far.says_json({"error": "said the far side"}, status, Retry_After="30")
        with pytest.raises(ollama.ResponseError, match="said the far side") as caught:
            client.chat(MODEL, [USER])
        assert caught.value.status_code == status


def test_an_answer_that_breaks_off_is_an_error(client, far):
    far.says("One two three", cut_after=1)
    with pytest.raises(ollama.ResponseError):
        list(client.chat(MODEL, [USER], stream=True))


def test_what_changes_models_is_refused(client):
    with pytest.raises(ollama.ResponseError, match="does not manage models") as caught:
        client.pull("x")
    assert caught.value.status_code == 501


def test_an_openai_server_behind_gets_what_can_be_translated_and_the_rest_is_named(servers, far):
    heads = []
    told = ollama.Client(host=servers["openai"], event_hooks={"response": [lambda one: heads.append(one.headers)]})
    told.chat(MODEL, [USER], options={"num_ctx": 8192, "seed": 7}, think=True, keep_alive="10m")
    named = {part.strip() for part in heads[0].get("x-mnemoir-dropped", "").split(",")}
    assert {"keep_alive", "think"} <= named
    assert any("num_ctx" in name for name in named)
    assert far.body["seed"] == 7
