"""Each member of an answer of the model's server comes back to a client of the same protocol, whole and streamed."""

import json

import pytest

from tests.fidelity import openai_answers, openai_chat_requests
from tests.fidelity.conftest import House
from tests.fidelity.openai_answers import OWN, AnswerRow, Json
from tests.scripted_llm import Answer
from tests.server.test_chat_routes import stream_events

OPENAI = pytest.mark.parametrize("row", openai_answers.ROWS, ids=lambda row: row.name)
OPENAI_PLACES = pytest.mark.parametrize("place", ["openai-chat", "tree"])
EVENTS = {"Content-Type": "text/event-stream"}


@OPENAI
@OPENAI_PLACES
def test_a_member_of_a_whole_answer(house: House, row: AnswerRow, place: str) -> None:
    house.llm.queue(Answer(body=json.dumps(row.whole()).encode()))
    sent = house.ask(place, openai_chat_requests.PATH, openai_chat_requests.PLAIN)
    assert [theirs(sent.answer.json())] == shown(row, [row.whole()], place)


@OPENAI
@OPENAI_PLACES
def test_a_member_of_a_streamed_answer(house: House, row: AnswerRow, place: str) -> None:
    data = b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in row.chunks())
    house.llm.queue(Answer(headers=EVENTS, body=data + b"data: [DONE]\n\n"))
    asked = {**openai_chat_requests.PLAIN, "stream": True, "stream_options": {"include_usage": True}}
    sent = house.ask(place, openai_chat_requests.PATH, asked)
    assert [theirs(event) for event in stream_events(sent.answer.content)] == shown(row, row.chunks(), place)


def theirs(answer: Json) -> Json:
    """The answer without what is Mnemoir's own."""
    return {name: value for name, value in answer.items() if name not in OWN}


def shown(row: AnswerRow, answers: list[Json], place: str) -> list[Json]:
    """The answers as the client must get them; a config tree sends no piece that holds nothing but thinking."""
    changed = [_shown(row, answer, place == "tree") for answer in answers]
    return [theirs(answer) for answer in changed if not answer["choices"] or _says(answer["choices"][0])]


def _shown(row: AnswerRow, answer: Json, hides: bool) -> Json:
    for choice in answer["choices"]:
        said = choice.get("message") or choice["delta"]
        if row.adds and any(name in said for name in row.hides):
            said |= row.adds
        for name in row.hides if hides else ():
            said.pop(name, None)
    return answer


def _says(choice: Json) -> bool:
    return bool(choice.get("message") or choice["delta"] or choice["finish_reason"])
