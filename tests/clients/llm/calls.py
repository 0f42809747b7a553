"""`llm`, the command line program: its prompts, as a user's file of extra models names Mnemoir."""

import json

import pytest
from click.testing import CliRunner
from llm.cli import cli
from mnemoir_calls import MODEL


@pytest.fixture
def llm(servers, tmp_path, monkeypatch):
    """Runs `llm` with the arguments of a test; what it prints."""
    common = f"  api_base: {servers['openai']}/v1\n  api_key_name: mnemoir\n"
    able = "  supports_tools: true\n  supports_schema: true\n"
    chat = f"- model_id: mnemoir\n  model_name: {MODEL}\n{able}"
    plain = f"- model_id: plain\n  model_name: {MODEL}\n  completion: true\n"
    headed = f"- model_id: headed\n  model_name: {MODEL}\n  headers:\n    X-Memory: 'off'\n"
    (tmp_path / "extra-openai-models.yaml").write_text("".join(each + common for each in (chat, plain, headed)))
    (tmp_path / "keys.json").write_text(json.dumps({"mnemoir": "any"}))
    monkeypatch.setenv("LLM_USER_PATH", str(tmp_path))

    def run(*arguments):
        done = CliRunner().invoke(cli, arguments, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.output.strip()

    return run


def test_a_prompt_is_answered_streamed_and_whole(llm, far):
    far.says("Much snow.")
    assert llm("-m", "mnemoir", "Weather?") == "Much snow."
    far.says("Much snow.")
    assert llm("-m", "mnemoir", "--no-stream", "Weather?") == "Much snow."
    assert [asked["body"].get("stream", False) for asked in far.asked] == [True, False]


def test_a_conversation_goes_on(llm, far):
    far.says("Snow.")
    llm("-m", "mnemoir", "Weather?")
    far.clear()
    llm("-m", "mnemoir", "--continue", "And tomorrow?")
    assert [message["content"] for message in far.body["messages"]] == ["Weather?", "Snow.", "And tomorrow?"]


def test_an_answer_follows_a_schema(llm, far):
    far.says('{"city": "Graz"}')
    assert json.loads(llm("-m", "mnemoir", "--schema", "city str", "Where?")) == {"city": "Graz"}
    assert far.body["response_format"]["json_schema"]["schema"]["required"] == ["city"]


def test_functions_are_called(llm, far):
    far.says(tool_calls=[("weather", {"city": "Graz"}), ("weather", {"city": "Linz"})])
    far.says("It snows in both.")
    code = "def weather(city: str) -> str:\n    return 'Snow in ' + city\n"
    assert llm("-m", "mnemoir", "--functions", code, "Weather?") == "It snows in both."
    results = [message["content"] for message in far.asked[-1]["body"]["messages"] if message["role"] == "tool"]
    assert results == ["Snow in Graz", "Snow in Linz"]


def test_options_arrive(llm, far):
    options = {"temperature": "0.5", "seed": "7", "logit_bias": '{"42": 10}'}
    llm("-m", "mnemoir", *(part for name, value in options.items() for part in ("-o", name, value)), "Weather?")
    told = {name: far.body.get(name) for name in options}
    assert told == {"temperature": 0.5, "seed": 7, "logit_bias": {"42": 10}}


def test_a_completion_model_completes(llm, far):
    far.says("upon a time")
    assert llm("-m", "plain", "Once") == "upon a time"


def test_logprobs_of_a_completion_model_arrive(llm, far):
    llm("-m", "plain", "-o", "logprobs", "3", "Once")
    assert (far.path, far.body["logprobs"]) == ("/v1/completions", 3)


def test_headers_of_a_model_are_sent(llm, far):
    far.says("Snow.")
    assert llm("-m", "headed", "Weather?") == "Snow."
