"""KoboldCpp's own protocol: what is asked, and what is made of its answers."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemoir.core.errors import ProviderInvalidOutput, ProviderRefused, ProviderUnavailable
from mnemoir.core.events import Finished, Reply, Text, Usage
from mnemoir.core.messages import ImagePart, Message, ModelRequest, TextPart, text_message
from mnemoir.wire import koboldcpp

STREAM = (
    b'event: message\ndata: {"token": "Gr\xc3\xbc", "finish_reason": null}\n\n'
    b'data: {"token": "ezi"}\r\n\r\nevent: ping\ndata: {"token": "no"}\n\ndata: {"token": "neither"}\n\n'
    b': a comment\n\nevent: message\ndata: {"token": ""}\n\ndata:  [DONE]\n\ndata: {"token": "!"}\n'
)


def test_the_prompt_goes_out_with_its_options_and_pictures_and_without_a_model() -> None:
    parts = (TextPart(text="what is this"), ImagePart(url="data:image/png;base64,iVBORw0KGgoA"))
    message = Message(role="user", parts=parts)
    request = ModelRequest(messages=(message,), model="m", options={"max_length": 50, "temperature": 0.5})
    assert koboldcpp.write_request(request, stream=True) == {
        "prompt": "what is this",
        "max_length": 50,
        "temperature": 0.5,
        "images": ["iVBORw0KGgoA"],
    }


@pytest.mark.parametrize("messages", [(), (text_message("user", "a"), text_message("user", "b"))])
def test_what_is_not_one_prompt_is_refused(messages: tuple[Message, ...]) -> None:
    with pytest.raises(ProviderRefused, match="takes one prompt"):
        koboldcpp.write_request(ModelRequest(messages=messages), stream=False)


def test_a_reply_is_read_with_and_without_counts() -> None:
    assert koboldcpp.read_reply({"results": [{"text": "hi"}]}) == Reply(text="hi")
    counted = {"text": "hi", "finish_reason": "length", "prompt_tokens": 3, "completion_tokens": 2}
    usage = Usage(input_tokens=3, output_tokens=2)
    assert koboldcpp.read_reply({"results": [counted]}) == Reply(text="hi", reason="length", usage=usage)


@pytest.mark.parametrize("body", [{}, {"results": []}, {"results": None}, {"results": ["x"]}])
def test_a_reply_without_a_text_is_refused(body: dict[str, Any]) -> None:
    with pytest.raises(ProviderInvalidOutput, match=r"no text|a place that is not known"):
        koboldcpp.read_reply(body)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=5))
def test_only_events_named_message_count_however_the_bytes_are_cut(sizes: list[int]) -> None:
    reader, events, data = koboldcpp.AnswerReader(), [], STREAM
    for n in range(len(data)):
        size = sizes[n % len(sizes)]
        events += reader.feed(data[:size])
        data = data[size:]
    assert [*events, *reader.end()] == [Text("Grü"), Text("ezi"), Text("!"), Finished()]


def test_the_reason_is_told_where_the_server_names_one() -> None:
    reader = koboldcpp.AnswerReader()
    assert reader.feed(b'event: message\ndata: {"token": "a", "finish_reason": "length"}\n\n') == [Text("a")]
    assert reader.end() == [Finished(reason="length")]


@pytest.mark.parametrize("body", [b"", b": ping\n\n", b"event: progress\ndata: 1\n\n"])
def test_a_body_without_an_answer_is_an_error(body: bytes) -> None:
    reader = koboldcpp.AnswerReader("text/event-stream")
    assert reader.feed(body) == []
    with pytest.raises(ProviderUnavailable, match="before its answer was complete"):
        reader.end()


@pytest.mark.parametrize("event", [b"{oops", b'{"token": 7}', b"[]"])
def test_an_event_that_cannot_be_read_is_an_error(event: bytes) -> None:
    reader = koboldcpp.AnswerReader()
    assert reader.feed(b"data: {}\n\n") == []
    with pytest.raises(ProviderInvalidOutput):
        reader.feed(b"data: " + event + b"\n\n")


@pytest.mark.parametrize("event", [b'data: {"error": "out of memory"}', b"event: error\ndata: out of memory"])
def test_an_error_is_told_in_the_servers_words(event: bytes) -> None:
    with pytest.raises(ProviderUnavailable, match="out of memory"):
        koboldcpp.AnswerReader().feed(event + b"\n\n")
