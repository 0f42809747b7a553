"""Placeholders in texts and JSON, and the values back in their place, however a stream is cut."""

import json
from collections.abc import Sequence

import pytest

from mnemoir.core.errors import ModuleFailed
from mnemoir.core.events import Alternative, Event, Finished, Gathering, Passed, Reply, Text, Thinking, ToolCallPart
from mnemoir.core.messages import (
    Extra,
    ImagePart,
    JsonSchema,
    Message,
    ModelRequest,
    Sampling,
    TextPart,
    ToolCall,
    text_message,
)
from mnemoir.privacy.detection import Rules
from mnemoir.privacy.placeholders import Placeholders, in_json_text, values_in
from mnemoir.privacy.requests import RestoredEvents, changed_request, request_texts, restored_reply
from tests.each_case import check_each
from tests.narrowing import present

RULES = Rules()
TEXT = 'Both mira@example.org and "o"@example.com, key sk-abcdefghijklmnop"qrstuvwx'


def redacted(text: str) -> tuple[str, Placeholders]:
    placeholders = Placeholders()
    placeholders.reserve(text)
    return placeholders.with_placeholders(text, RULES.find(text)), placeholders


def restored(placeholders: Placeholders, events: Sequence[Event]) -> Gathering:
    """The answer of these events, one in each batch."""
    restoring, gathering = RestoredEvents(placeholders), Gathering()
    for event in events:
        gathering.take(restoring.take([event]))
    return gathering


def test_equal_values_have_equal_numbers_and_numbers_of_the_text_are_left_alone():
    text, placeholders = redacted(
        "[EMAIL_2]: a@example.org, b@example.org, A@EXAMPLE.ORG, +49 30 901820, +4930901820"
    )
    assert text == "[EMAIL_2]: [EMAIL_3], [EMAIL_4], [EMAIL_3], [PHONE_1], [PHONE_1]"
    assert placeholders.with_values("[EMAIL_4] [EMAIL_2] [EMAIL_33]") == "b@example.org [EMAIL_2] [EMAIL_33]"


def test_what_was_replaced_is_not_found_again():
    text, _ = redacted(TEXT)
    assert RULES.find(text) == []


SAID = "To [EMAIL_1] [and [EMAIL_2] or [EMAIL_1], not [EMAIL_9]: a[0], [E"


@pytest.mark.parametrize("kind", [Text, Thinking])
def test_a_stream_cut_anywhere_is_turned_back_equally(kind):
    whole = SAID.replace("[EMAIL_1]", "a@example.org").replace("[EMAIL_2]", "b@example.org")

    def is_whole(at):
        _, placeholders = redacted("a@example.org b@example.org")
        reply = restored(placeholders, [kind(SAID[:at]), kind(SAID[at:]), Text("!"), Finished()]).reply()
        assert reply.thinking + reply.text == whole + "!"

    check_each(range(len(SAID) + 1), is_whole)


def test_a_stream_of_single_characters_is_turned_back_and_little_is_held_back():
    _, placeholders = redacted("a@example.org")
    restoring, shown = RestoredEvents(placeholders), ""
    for at, char in enumerate(SAID):
        shown += "".join(event.text for event in restoring.take([Text(char)]) if isinstance(event, Text))
        assert len(placeholders.with_values(SAID[: at + 1])) - len(shown) <= len("[EMAIL_1]")
    assert shown + "".join(
        event.text for event in restoring.end() if isinstance(event, Text)
    ) == placeholders.with_values(SAID)


ARGUMENTS = json.dumps({"to": ["[EMAIL_1]", "[SECRET_1]"], "n": 1})


def test_arguments_of_calls_cut_anywhere_stay_json():
    def are_json(at):
        _, placeholders = redacted('a@example.org, password is "Som\\mer\\2024')
        events: list[Event] = [
            Text("[EMAIL_1]"),
            ToolCallPart(index=0, id="c0", name="send", arguments=ARGUMENTS[:at]),
            ToolCallPart(index=0, arguments=ARGUMENTS[at:]),
            ToolCallPart(index=1, id="c1", name="note", arguments="[EMAIL_1", custom=True),
            ToolCallPart(index=1, arguments="]", custom=True),
            Finished(reason="tool_calls"),
        ]
        reply = restored(placeholders, events).reply()
        sent, noted = reply.tool_calls
        assert json.loads(sent.arguments) == {"to": ["a@example.org", "Som\\mer\\2024"], "n": 1}
        assert (noted.arguments, reply.text) == ("a@example.org", "a@example.org")

    check_each(range(len(ARGUMENTS) + 1), are_json)


def test_further_choices_of_a_stream_are_turned_back():
    _, placeholders = redacted("a@example.org")
    deltas = [("To [EM", None), ("AIL_1], [", None), ("", "stop")]
    events = [
        Alternative(choice={"index": 1, "delta": {"content": text}, "finish_reason": reason})
        for text, reason in deltas
    ]
    told = restored(placeholders, events).so_far().alternatives
    assert "".join(choice["delta"]["content"] for choice in told) == "To a@example.org, ["


def test_calls_that_a_stream_sends_by_turns_are_turned_back():
    _, placeholders = redacted("a@example.org")
    events = [
        ToolCallPart(index=at % 2, id=f"c{at % 2}" if at < 2 else None, arguments=piece)
        for at, piece in enumerate(piece for piece in ('{"to": "[EM', "AIL_", '1]"}') for _ in range(2))
    ]
    told = restored(placeholders, [*events, Finished(reason="tool_calls")]).reply().tool_calls
    assert [json.loads(call.arguments) for call in told] == [{"to": "a@example.org"}] * 2


def test_reasoning_and_calls_of_further_choices_are_turned_back():
    _, placeholders = redacted("a@example.org")
    call = [{"index": 0, "function": {"arguments": '["[EMAI'}}], [{"index": 0, "function": {"arguments": 'L_1]"]'}}]
    deltas = [{"reasoning_content": "To [EM", "tool_calls": call[0]}, {"reasoning_content": "AIL_1]["}]
    events = [Alternative(choice={"index": 1, "delta": delta, "finish_reason": None}) for delta in deltas]
    events.append(Alternative(choice={"index": 1, "delta": {"tool_calls": call[1]}, "finish_reason": "tool_calls"}))
    told = [choice["delta"] for choice in restored(placeholders, events).so_far().alternatives]
    assert "".join(delta.get("reasoning_content", "") for delta in told) == "To a@example.org["
    calls = [one for delta in told for one in delta.get("tool_calls", [])]
    assert "".join(one["function"]["arguments"] for one in calls) == '["a@example.org"]'


def test_arguments_of_calls_in_further_whole_choices_stay_json():
    _, placeholders = redacted('a@example.org, password is "Som\\mer\\2024')
    call = {"function": {"name": "send", "arguments": ARGUMENTS}}
    choice = {"index": 1, "message": {"content": "To [EMAIL_1]", "tool_calls": [call]}, "finish_reason": None}
    (told,) = restored_reply(Reply(text="", alternatives=[choice]), placeholders).alternatives
    arguments = told["message"]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(arguments) == {"to": ["a@example.org", "Som\\mer\\2024"], "n": 1}
    assert told["message"]["content"] == "To a@example.org"


def test_texts_that_are_passed_on_unread_are_turned_back_across_events():
    _, placeholders = redacted("a@example.org")
    events = [Passed(route="openai-chat", message={"reasoning": piece}) for piece in ("To [EM", "AIL_1], [")]
    told = RestoredEvents(placeholders).take([*events, Finished()])
    assert (
        "".join(present(one.message)["reasoning"] for one in told if isinstance(one, Passed)) == "To a@example.org, ["
    )


def test_every_text_of_a_request_is_changed_and_nothing_else():
    mail, picture = "a@example.org", ImagePart(url="data:image/png;base64,QUJD")
    call = ToolCall(id="c", name="send", arguments='{"to": "a@example.org", "card": 4111111111111111, "n": 12}')
    request = ModelRequest(
        messages=[
            text_message("system", f"You serve {mail}."),
            Message(role="user", parts=(TextPart(text=mail), picture), name=mail),
            Message(role="assistant", tool_calls=(call,)),
        ],
        tools=[{"function": {"name": "send", "description": mail}}],
        extra=Extra(route="openai-chat", members={"user": mail, "metadata": {"n": [mail, 5]}}),
    )
    assert changed_request(request, lambda text: text) == request
    placeholders = Placeholders()
    changed = changed_request(request, lambda text: placeholders.with_placeholders(text, RULES.find(text)))
    assert [text for text in request_texts(changed) if RULES.find(text)] == []
    assert changed.messages[1].parts[1] == picture
    assert changed.messages[1].name == "EMAIL_1"
    assert json.loads(changed.messages[2].tool_calls[0].arguments) == {"to": "[EMAIL_1]", "card": "[CARD_1]", "n": 12}
    assert present(changed.extra).members == {"user": "[EMAIL_1]", "metadata": {"n": ["[EMAIL_1]", 5]}}


def test_names_of_members_are_changed_and_tell_what_their_values_are():
    _, placeholders = redacted("")
    text = '{"a@example.org": 1, "password": "hunter2-Blue!", "key": "docs/2026-11/page.png"}'
    changed = in_json_text(text, lambda value: placeholders.with_placeholders(value, RULES.find(value)))
    assert json.loads(changed) == {"[EMAIL_1]": 1, "password": "[SECRET_1]", "key": "docs/2026-11/page.png"}
    assert json.loads(in_json_text(changed, placeholders.with_values)) == json.loads(text)


def test_what_ends_an_answer_and_the_form_it_is_to_have_are_changed():
    form = {"type": "json_schema", "json_schema": {"name": "n", "description": "a@example.org"}}
    output = JsonSchema(
        name="n", schema={}, description="a@example.org", extra=Extra(route="openai-chat", members=form)
    )
    request = ModelRequest(messages=[], sampling=Sampling(stop=["a@example.org"]), output=output)
    changed = changed_request(request, lambda text: text.replace("a@example.org", "[EMAIL_1]"))
    assert "a@" not in repr(changed)
    assert changed.sampling.stop == ["[EMAIL_1]"]


def test_json_without_personal_data_keeps_its_spelling():
    for text in ('{ "a" : 1.0,"b":[ ] }', "no json", ""):
        assert in_json_text(text, lambda value: value) == text


def test_values_keep_secret_in_print():
    (value,) = values_in("a@example.org", RULES.find("a@example.org"))
    assert "example" not in repr(value)


def test_a_detector_that_fails_lets_nothing_through():
    def broken(text: str) -> list[tuple[str, int, int]]:
        raise KeyError(text)

    with pytest.raises(ModuleFailed, match=r"pii.detector failed \(KeyError\)"):
        Rules(detector=broken).find("Mira")
