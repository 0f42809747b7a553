"""How much goes on, as settings and endpoints say it, and how an answer tells what did not."""

from typing import Any

import pytest

from mnemoir.core.messages import Extra, ModelRequest
from mnemoir.models.model_parts import forwarding_of
from mnemoir.settings import load_settings
from mnemoir.wire import ollama_chat, ollama_generate, openai_chat, openai_completions
from mnemoir.wire.forwarding import Forwarding, ThinkAs, bounded_names, request_for_provider
from mnemoir.wire.passed_members import Forward
from mnemoir.wire.session import without_session
from tests.fidelity import ollama_requests, openai_chat_requests, openai_completion_requests
from tests.fidelity.conftest import House
from tests.fidelity.openai_chat_requests import PATH, PLAIN
from tests.scripted_llm import failure
from tests.tree_kit import run_of

KEY = "a-key-of-sixteen-characters"


@pytest.mark.parametrize(
    ("settings", "forward"),
    [
        ({}, "all"),
        ({"server.host": "::1"}, "all"),
        ({"server.api_keys": [KEY]}, "listed"),
        ({"server.admin_api_key": KEY}, "listed"),
        ({"server.host": "0.0.0.0", "server.api_keys": [KEY]}, "listed"),
        ({"server.api_keys": [KEY], "llm.forward": "all"}, "all"),
        ({"llm.forward": "none"}, "none"),
        ({"llm.forward": "Listed"}, "listed"),
    ],
)
def test_all_goes_on_where_only_this_machine_can_ask_else_what_is_listed(settings: Any, forward: Forward) -> None:
    assert forwarding_of(load_settings(None, settings, environ={})).forward == forward


def test_an_endpoint_chooses_for_itself(house: House) -> None:
    sent = house.ask("listed tree", PATH, {**PLAIN, "top_k": 1, "dry_base": 2, "x_new": 3})
    assert (sent.body["top_k"], sent.body["dry_base"], sent.dropped) == (1, 2, ("x_new",))


def test_what_a_preset_names_wins_and_the_answer_says_so(house: House) -> None:
    sent = house.ask("preset tree", PATH, {**PLAIN, "temperature": 1.5, "top_k": 1})
    assert (sent.body["temperature"], sent.body["top_k"], sent.dropped) == (0.2, 1, ("temperature",))


def test_nothing_goes_on_from_a_node_that_does_not_answer(house: House) -> None:
    sent = house.ask("inner tree", PATH, {**PLAIN, "top_k": 1, "response_format": {"type": "json_object"}})
    before, answering = sent.upstream
    assert before.keys() == {"model", "messages", "stream", "max_tokens"}
    assert (answering["top_k"], answering["response_format"]) == (1, {"type": "json_object"})


@pytest.mark.parametrize("place", ["openai-chat", "tree"])
@pytest.mark.parametrize("stream", [False, True])
def test_a_refusal_of_a_passed_member_goes_to_the_client_and_is_asked_once(
    house: House, place: str, stream: bool
) -> None:
    house.llm.queue(failure(400, "Unknown parameter: top_k", code="unknown_parameter"))
    sent = house.ask(place, PATH, {**PLAIN, "top_k": 1, "stream": stream})
    error = sent.answer.json()["error"]
    assert (sent.answer.status_code, error["code"], len(sent.upstream)) == (400, "unknown_parameter", 1)
    assert "Unknown parameter: top_k" in error["message"]


@pytest.mark.parametrize("place", ["openai-chat", "tree", "closed tree"])
def test_a_trace_keeps_the_names_of_members_and_no_value(house: House, place: str) -> None:
    sent = house.ask(place, PATH, {**PLAIN, "x_new": "canary-314", "y_new": {"z": "canary-314"}})
    server = house.servers[place if place == "openai-chat" else "tree"]
    run = run_of(server, sent.answer.headers["X-Workflow-Run-Id"])
    assert "canary" not in str(run)
    assert "x_new" in str(run)
    assert tuple(run["dropped"]) == sent.dropped


@pytest.mark.parametrize("stream", [False, True])
def test_a_header_and_a_log_line_name_no_more_than_twenty(house: House, stream: bool) -> None:
    unknown = {f"unknown_{n:02}": n for n in range(30)}
    sent = house.ask("openai-responses", PATH, {**PLAIN, **unknown, "stream": stream})
    told = sent.answer.headers["X-Mnemoir-Dropped"]
    assert told == ", ".join([*list(unknown)[:20], "+10"])
    log = house.servers["openai-responses"].log.read_text()
    assert [told in line for line in log.splitlines() if "members dropped" in line][-1]


def test_a_name_that_no_header_may_hold_is_made_safe() -> None:
    assert bounded_names(["a\r\nX-Evil: 1", "grüße", "", "x" * 99]) == f"a__X-Evil__1, gr__e, _, {'x' * 64}"


def test_all_names_together_have_at_most_a_thousand_characters() -> None:
    told = bounded_names([f"{n:02}" + "x" * 62 for n in range(20)])
    names = told.split(", ")
    assert len(told) <= 1000
    assert names[-1] == f"+{20 - len(names) + 1}"


@pytest.mark.parametrize(
    ("think_as", "think", "effort", "extra", "dropped"),
    [
        ("none", True, None, None, ("think",)),
        ("none", False, None, None, ("think",)),
        ("reasoning_effort", True, "medium", None, ()),
        ("reasoning_effort", False, "none", None, ()),
        ("chat_template_kwargs", True, None, {"chat_template_kwargs": {"enable_thinking": True}}, ()),
        ("chat_template_kwargs", False, None, {"chat_template_kwargs": {"enable_thinking": False}}, ()),
    ],
)
def test_think_goes_to_openai_as_the_setting_says(
    think_as: ThinkAs, think: bool, effort: str | None, extra: Any, dropped: tuple[str, ...]
) -> None:
    request = ModelRequest(messages=(), think=think)
    ready, told = request_for_provider(request, "openai-chat", Forwarding(think_as=think_as))
    assert (ready.think, ready.reasoning_effort, told) == (None, effort, dropped)
    assert ready.extra == (extra and Extra(route="openai-chat", members=extra))


@pytest.mark.parametrize("think", [True, False, "low"])
def test_think_goes_to_an_ollama_as_it_came(house: House, think: object) -> None:
    asked = {"model": "?", "messages": PLAIN["messages"], "think": think}
    assert house.ask("ollama", "/api/chat", asked).body["think"] == think


def test_as_many_members_and_as_long_names_as_are_allowed_go_on_whole(house: House) -> None:
    unknown = {f"{n:03}" + "x" * 253: 2**63 - n for n in range(1, 257)}
    body = house.ask("openai-chat", PATH, {**PLAIN, **unknown}).body
    assert {name: body.get(name) for name in unknown} == unknown


def test_a_member_as_deep_as_is_allowed_goes_on_whole(house: House) -> None:
    deep: Any = 1
    for _ in range(98):
        deep = [deep]
    assert house.ask("openai-chat", PATH, {**PLAIN, "deep": deep}).body["deep"] == deep
    refused = house.ask("openai-chat", PATH, {**PLAIN, "deep": [[[deep]]]})
    assert (refused.answer.status_code, refused.answer.json()["code"]) == (400, "invalid_json")


def test_ids_of_answers_are_mnemoirs_own(house: House) -> None:
    answer = house.ask("openai-chat", PATH, {**PLAIN, "model": "any"}).answer.json()
    assert answer["id"] != "chatcmpl-scripted"
    assert (answer["model"], answer["created"] > 1_767_225_600) == ("any", True)


@pytest.mark.parametrize(
    ("read", "table", "provider"),
    [
        (openai_chat.read_request, openai_chat_requests, "openai-chat"),
        (openai_completions.read_request, openai_completion_requests, "openai-chat"),
        (ollama_chat.read_request, ollama_requests.CHAT, "ollama"),
        (ollama_generate.read_request, ollama_requests.GENERATE, "ollama"),
    ],
)
def test_every_member_with_a_name_in_the_table_is_listed(read: Any, table: Any, provider: str) -> None:
    for row in table.ROWS:
        if "tomorrow" not in row.name:
            chat = without_session(read({**table.PLAIN, **row.given}), ["conversation_id"])
            _, dropped = request_for_provider(chat.request, provider, Forwarding(forward="listed"))
            assert tuple(chat.client_spellings(dropped)) == row.fates[provider].dropped, row.name


def test_pictures_without_a_place_in_a_request_of_the_responses_api_are_told(house: House) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    text, thought = {"type": "text", "text": "Look:"}, {"type": "reasoning", "text": "hm"}
    call = {"id": "c1", "type": "function", "function": {"name": "w", "arguments": "{}"}}
    turns: list[dict[str, Any]] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": [text, picture]},
    ]
    sent = house.ask("openai-responses", PATH, {**PLAIN, "messages": turns})
    (result,) = (item for item in sent.body["input"] if item.get("type") == "function_call_output")
    assert ([part["type"] for part in result["output"]], sent.dropped) == (["input_text", "input_image"], ())
    for place, part in ((0, picture), (2, picture), (2, thought), (3, thought)):
        asked = [{**turn, "content": [text, part]} if n == place else turn for n, turn in enumerate(turns)]
        sent = house.ask("openai-responses", PATH, {**PLAIN, "messages": asked})
        assert sent.dropped == (f"messages.content.{part['type']}",)
