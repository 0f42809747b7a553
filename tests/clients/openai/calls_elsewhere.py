"""The `openai` package: completions, embeddings and models, and servers with another protocol behind."""

import openai
import pytest
from mnemoir_calls import MODEL, USER
from openai_kit import asking, client


@pytest.fixture
def sdk(servers):
    with client(servers["openai"]) as made:
        yield made


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


def dropped(servers, name, **more):
    """The members that a server says it dropped."""
    with client(servers[name]) as made:
        raw = made.chat.completions.with_raw_response.create(model=MODEL, messages=[USER], **more)
    return {part.strip() for part in raw.headers.get("x-mnemoir-dropped", "").split(",") if part.strip()}


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
        answer = asking(made)(stop=["END"])
    assert answer.choices[0].message.content.rstrip() == "Snow."


def test_a_late_system_message_keeps_its_place_for_a_responses_server(servers, far):
    late = {"role": "system", "content": "LATE"}
    said = {"role": "assistant", "content": "Yes."}
    with client(servers["responses"]) as made:
        asking(made)(messages=[{"role": "system", "content": "A"}, USER, said, late, USER])
    assert far.body.get("instructions", "A") == "A"
    assert [item["role"] for item in far.body["input"]][-4:] == ["user", "assistant", "system", "user"]
