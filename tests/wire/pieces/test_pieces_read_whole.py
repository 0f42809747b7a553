"""A stream that is read whole keeps what came beside its words: annotations, logprobs, pictures, further choices."""

from typing import Any

import orjson

from mnemoir.core.events import Note, Passed
from mnemoir.wire import ollama_chat, openai_chat, openai_completions, openai_responses
from tests.wire.answer_kit import DONE, READERS, lines, sse


def told(token: str) -> dict[str, Any]:
    return {"content": [{"token": token, "logprob": -1}], "refusal": None}


def piece(index: int, delta: dict[str, Any], **beside: Any) -> dict[str, Any]:
    return {"choices": [{"index": index, "delta": delta, **beside}]}


CHAT = (
    {**piece(0, {"content": "Hi"}, logprobs=told("Hi"), native=None), "provider": "X", "citations": ["a"]},
    piece(1, {"content": "no", "annotations": [{"n": 9}]}, logprobs=told("no")),
    {**piece(0, {"content": " you", "annotations": [{"n": 1}]}, logprobs=told(" you")), "citations": ["a", "b"]},
    piece(0, {"annotations": [{"n": 2}], "images": [{"image_url": {"url": "data:x"}}], "reasoning": "h"}),
    piece(0, {"audio": {"id": "q", "transcript": "He"}, "reasoning": "m"}),
    piece(0, {"audio": {"id": "q", "transcript": "llo"}}),
    piece(1, {}, finish_reason="length"),
    piece(0, {}, finish_reason="stop", native="STOP"),
)


def test_what_stands_beside_the_pieces_of_a_chat_is_in_its_whole_answer() -> None:
    reply = openai_chat.AnswerReader.read_body(sse(*CHAT, DONE))
    body = orjson.loads(openai_chat.write_reply(reply, model="m", reply_id="x", created=1))
    assert (body["provider"], body["citations"]) == ("X", ["a", "b"])
    first, second = body["choices"]
    assert first["message"] == {
        "role": "assistant",
        "content": "Hi you",
        "refusal": None,
        "reasoning_content": "hm",
        "reasoning": "hm",
        "annotations": [{"n": 1}, {"n": 2}],
        "images": [{"image_url": {"url": "data:x"}}],
        "audio": {"id": "q", "transcript": "Hello"},
    }
    assert (first["finish_reason"], first["native"]) == ("stop", "STOP")
    assert [token["token"] for token in first["logprobs"]["content"]] == ["Hi", " you"]
    assert (second["index"], second["message"]["content"], second["finish_reason"]) == (1, "no", "length")
    assert (second["message"]["annotations"], second["logprobs"]) == ([{"n": 9}], told("no"))


def test_a_whole_answer_in_one_piece_is_as_it_came() -> None:
    message = {"role": "assistant", "content": "Hi", "annotations": [{"n": 1}]}
    choice = {"index": 0, "message": message, "logprobs": told("Hi"), "finish_reason": "stop"}
    reply = openai_chat.AnswerReader.read_body(sse({"choices": [choice]}, DONE))
    assert reply.passed is not None
    assert (reply.passed.message, reply.passed.choice) == ({"annotations": [{"n": 1}]}, {"logprobs": told("Hi")})


def test_texts_and_lines_keep_their_logprobs() -> None:
    texts = [
        {"choices": [{"index": n, "text": text, "logprobs": {"tokens": [text]}, "finish_reason": reason}]}
        for n, text, reason in ((0, "Hi", None), (1, "no", "stop"), (0, " you", "stop"))
    ]
    reply = openai_completions.AnswerReader.read_body(sse(*texts, DONE))
    first, second = orjson.loads(openai_completions.write_reply(reply, model="m", reply_id="x", created=1))["choices"]
    assert (first["text"], first["logprobs"]) == ("Hi you", {"tokens": ["Hi", " you"]})
    assert (second["index"], second["text"], second["logprobs"]) == (1, "no", {"tokens": ["no"]})
    said = [{"message": {"content": text}, "logprobs": [{"token": text}], "host": "z"} for text in ("H", "i")]
    end = {"message": {"content": "", "images": ["x"]}, "host": "z", "done": True}
    reply = ollama_chat.AnswerReader.read_body(lines(*said, end))
    body = orjson.loads(ollama_chat.write_reply(reply, model="m", reply_id="x", created=1))
    assert (body["logprobs"], body["host"]) == ([{"token": "H"}, {"token": "i"}], "z")
    assert body["message"] == {"role": "assistant", "content": "Hi", "images": ["x"]}


def test_a_long_text_beside_the_words_is_joined_once() -> None:
    """Quadratic work would take minutes."""
    thoughts = sse(*[piece(0, {"content": "x", "notes": "y" * 100})] * 20_000, DONE)
    passed = openai_chat.AnswerReader.read_body(thoughts).passed
    assert isinstance(passed, Passed)
    assert passed.message == {"notes": "y" * 2_000_000}


def test_items_and_parts_of_unknown_types_are_named_once_in_notes() -> None:
    message = {"type": "message", "content": [{"type": "output_text", "text": "Hi"}, {"type": "hologram"}]}
    output = [{"type": "web_search_call"}, {"type": "web_search_call"}, message]
    reply = openai_responses.read_reply({"status": "completed", "output": output})
    assert [note.split("'")[1] for note in reply.notes] == ["web_search_call", "hologram"]
    done = ({"type": "response.output_item.done", "output_index": n, "item": item} for n, item in enumerate(output))
    end = {"type": "response.completed", "response": {"status": "completed", "output": output}}
    events = READERS["openai-responses"]("").feed(sse(*done, end))
    assert [event.text for event in events if isinstance(event, Note)] == list(reply.notes)
