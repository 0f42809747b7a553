"""LangChain: `langchain-openai` in front of an OpenAI server, `langchain-ollama` in front of an Ollama."""

import json

import openai
import pytest
import tiktoken
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_ollama import ChatOllama, OllamaEmbeddings, OllamaLLM
from langchain_openai import ChatOpenAI, OpenAI, OpenAIEmbeddings
from mnemoir_calls import MODEL, PIXEL, WEATHER
from pydantic import BaseModel

QUESTION = "How is the weather in Graz?"
CALLS = [("weather", {"city": "Graz"})]
LOGPROBS = {"content": [{"token": "Snow", "logprob": -0.1, "bytes": [83], "top_logprobs": []}], "refusal": None}


class Weather(BaseModel):
    """The weather of a city."""

    city: str


@pytest.fixture
def chat(servers):
    """Makes a chat model of langchain-openai."""
    given = {"model": MODEL, "base_url": f"{servers['openai']}/v1", "api_key": "any", "max_retries": 0}
    return lambda **more: ChatOpenAI(**{**given, **more})


@pytest.fixture
def ollama_chat(servers):
    """Makes a chat model of langchain-ollama."""
    return lambda **more: ChatOllama(model=MODEL, base_url=servers["ollama"], **more)


# --- langchain-openai


def test_a_chat_model_answers_whole_and_streamed(chat, far):
    far.says("Much snow.")
    answer = chat().invoke(QUESTION)
    assert (answer.content, answer.usage_metadata["output_tokens"]) == ("Much snow.", 5)
    far.says("Much snow.")
    parts = list(chat(stream_usage=True).stream(QUESTION))
    assert "".join(part.content for part in parts) == "Much snow."
    assert sum((part.usage_metadata or {}).get("output_tokens", 0) for part in parts) == 5


def test_tools_are_called_one_at_a_time_and_their_results_go_back(chat, far):
    bound = chat().bind_tools([WEATHER], parallel_tool_calls=False)
    far.says(tool_calls=CALLS)
    answer = bound.invoke(QUESTION)
    assert (answer.tool_calls[0]["name"], answer.tool_calls[0]["args"]) == ("weather", {"city": "Graz"})
    assert far.body["parallel_tool_calls"] is False
    far.clear()
    bound.invoke([HumanMessage(QUESTION), answer, ToolMessage("Snow.", tool_call_id=answer.tool_calls[0]["id"])])
    assert far.body["messages"][-1]["tool_call_id"] == answer.tool_calls[0]["id"]


def test_tools_are_called_in_a_stream(chat, far):
    far.says(tool_calls=CALLS)
    parts = list(chat().bind_tools([WEATHER]).stream(QUESTION))
    whole = parts[0]
    for part in parts[1:]:
        whole += part
    assert whole.tool_calls[0]["args"] == {"city": "Graz"}


@pytest.mark.parametrize("method", ["json_schema", "json_mode"])
def test_an_answer_is_structured_by_its_text(chat, far, method):
    far.says('{"city": "Graz"}')
    assert chat().with_structured_output(Weather, method=method).invoke("JSON of Graz") == Weather(city="Graz")
    kind = {"json_schema": "json_schema", "json_mode": "json_object"}[method]
    assert far.body["response_format"]["type"] == kind


def test_a_schema_is_as_strict_as_it_was_asked_for(chat, far):
    far.says('{"city": "Graz"}')
    chat().with_structured_output(Weather, method="json_schema", strict=True).invoke(QUESTION)
    assert far.body["response_format"]["json_schema"]["strict"] is True


def test_an_answer_is_structured_by_a_call(chat, far):
    far.says(tool_calls=[("Weather", {"city": "Graz"})])
    asked = chat().with_structured_output(Weather, method="function_calling")
    assert asked.invoke(QUESTION) == Weather(city="Graz")
    assert far.body["parallel_tool_calls"] is False


def test_logprobs_come_back(chat, far):
    far.says_message({"role": "assistant", "content": "Snow"}, choice={"logprobs": LOGPROBS})
    answer = chat(logprobs=True, top_logprobs=2).invoke(QUESTION)
    assert answer.response_metadata["logprobs"]["content"][0]["token"] == "Snow"
    assert (far.body["logprobs"], far.body["top_logprobs"]) == (True, 2)


def test_members_of_local_servers_arrive(chat, far):
    local = {"top_k": 20, "chat_template_kwargs": {"enable_thinking": False}}
    chat(extra_body=local, service_tier="flex", n=1).invoke(QUESTION)
    assert {name: far.body.get(name) for name in (*local, "service_tier")} == {**local, "service_tier": "flex"}


def test_a_picture_arrives(chat, far):
    chat().invoke([HumanMessage([{"type": "image_url", "image_url": {"url": PIXEL, "detail": "low"}}])])
    assert far.body["messages"][-1]["content"][-1]["image_url"] == {"url": PIXEL, "detail": "low"}


def test_two_answers_of_one_question(chat, far):
    choices = [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"} for text in "ab"]
    far.says_whole(choices)
    (made,) = chat(n=2).generate([[HumanMessage(QUESTION)]]).generations
    assert [one.text for one in made] == ["a", "b"]


@pytest.mark.parametrize(
    ("status", "code", "error"),
    [
        (403, "unsupported_country", openai.PermissionDeniedError),
        (400, "context_length_exceeded", openai.BadRequestError),
        (429, "insufficient_quota", openai.RateLimitError),
    ],
)
def test_an_error_keeps_its_class_and_its_code(chat, far, status, code, error):
    far.fails(status, code=code)
    with pytest.raises(error) as caught:
        chat().invoke(QUESTION)
    assert caught.value.code == code


def test_each_prompt_of_a_list_is_completed(servers, far):
    choices = [{"text": text, "index": at, "logprobs": None, "finish_reason": "stop"} for at, text in enumerate("ab")]
    head = {"id": "cmpl", "object": "text_completion", "created": 1, "model": MODEL}
    usage = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}
    far.says_json({**head, "choices": choices, "usage": usage})
    llm = OpenAI(model=MODEL, base_url=f"{servers['openai']}/v1", api_key="any", max_retries=0)
    assert [made[0].text for made in llm.generate(["one", "two"]).generations] == ["a", "b"]
    assert far.body["prompt"] == ["one", "two"]


@pytest.fixture
def bytes_as_tokens(monkeypatch):
    """A vocabulary of single bytes in place of the one that tiktoken downloads."""
    ranks = {bytes([value]): value for value in range(256)}
    made = tiktoken.Encoding("bytes", pat_str=r"[\s\S]", mergeable_ranks=ranks, special_tokens={})
    monkeypatch.setattr(tiktoken, "encoding_for_model", lambda _: made)
    monkeypatch.setattr(tiktoken, "get_encoding", lambda _: made)


def embeddings(servers, **more):
    return OpenAIEmbeddings(
        model="text-embedding-3-small", base_url=f"{servers['openai']}/v1", api_key="any", max_retries=0, **more
    )


def test_texts_are_embedded_as_token_numbers(servers, far, bytes_as_tokens):
    far.embeds([[1.0, 0.0], [0.0, 1.0]])
    assert embeddings(servers).embed_documents(["ab", "c"]) == [[1.0, 0.0], [0.0, 1.0]]
    assert far.body["input"] == [[97, 98], [99]]


def test_texts_are_embedded_as_texts(servers, far):
    made = embeddings(servers, check_embedding_ctx_length=False, dimensions=16).embed_documents(["one", "two"])
    assert [len(vector) for vector in made] == [16, 16]
    assert (far.body["input"], far.body["dimensions"]) == (["one", "two"], 16)


# --- langchain-ollama


def test_an_ollama_model_answers_whole_and_streamed(ollama_chat, far):
    far.says("Much snow.")
    assert ollama_chat().invoke(QUESTION).content == "Much snow."
    far.says("Much snow.")
    assert "".join(part.content for part in ollama_chat().stream(QUESTION)) == "Much snow."


def test_options_of_an_ollama_model_arrive(ollama_chat, far):
    ollama_chat(num_ctx=8192, top_k=20, repeat_penalty=1.1, mirostat=2, keep_alive="10m").invoke(QUESTION)
    told = {name: far.body["options"].get(name) for name in ("num_ctx", "top_k", "repeat_penalty", "mirostat")}
    assert told == {"num_ctx": 8192, "top_k": 20, "repeat_penalty": 1.1, "mirostat": 2}
    assert far.body["keep_alive"] == "10m"


def test_reasoning_is_asked_for_and_comes_back(ollama_chat, far):
    far.says("Snow.", thinking="It is winter.")
    answer = ollama_chat(reasoning=True).invoke(QUESTION)
    assert answer.additional_kwargs["reasoning_content"] == "It is winter."
    assert far.body["think"] is True


def test_reasoning_streams(ollama_chat, far):
    far.says("Snow.", thinking="It is winter.")
    parts = list(ollama_chat(reasoning=True).stream(QUESTION))
    assert "".join(part.additional_kwargs.get("reasoning_content", "") for part in parts) == "It is winter."


def test_an_ollama_model_calls_tools(ollama_chat, far):
    far.says(tool_calls=CALLS)
    answer = ollama_chat().bind_tools([{"type": "function", "function": WEATHER}]).invoke(QUESTION)
    assert answer.tool_calls[0]["args"] == {"city": "Graz"}


def test_an_ollama_model_answers_by_a_schema(ollama_chat, far):
    far.says('{"city": "Graz"}')
    asked = ollama_chat().with_structured_output(Weather, method="json_schema")
    assert asked.invoke(QUESTION) == Weather(city="Graz")
    assert far.body["format"]["properties"]["city"]["type"] == "string"


def test_an_ollama_model_is_found_at_the_start(ollama_chat, far):
    assert ollama_chat(validate_model_on_init=True).model == MODEL


def test_an_ollama_model_completes(servers, far):
    far.says("Snow.")
    llm = OllamaLLM(model=MODEL, base_url=servers["ollama"], num_ctx=8192)
    assert llm.invoke("Weather?") == "Snow."
    assert far.body["options"]["num_ctx"] == 8192


def test_ollama_embeds(servers, far):
    made = OllamaEmbeddings(model="far-embedder", base_url=servers["ollama"]).embed_documents(["one", "two"])
    assert [len(vector) for vector in made] == [16, 16]
    assert json.dumps(far.body["input"]) == '["one", "two"]'
