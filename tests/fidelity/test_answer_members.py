"""Each member of an answer of the model's server comes back to a client of the same protocol, whole and streamed."""

import json

import pytest

from tests.each_case import check_each
from tests.fidelity import ollama_answers, ollama_requests, openai_answers, openai_chat_requests
from tests.fidelity.conftest import House, first_and_others
from tests.fidelity.ollama_answers import LineRow
from tests.fidelity.openai_answers import AnswerRow, Json
from tests.scripted_llm import Answer
from tests.server.test_chat_routes import stream_events

OPENAI_PLACES = pytest.mark.parametrize("place", ["openai-chat", "tree"])
EVENTS, LINES = {"Content-Type": "text/event-stream"}, {"Content-Type": "application/x-ndjson"}
OWN = openai_answers.OWN | ollama_answers.OWN - {"choices", "usage"}


@first_and_others
@OPENAI_PLACES
def test_the_members_of_a_whole_answer(house: House, rows: slice, place: str) -> None:
    def comes_back(row: AnswerRow) -> None:
        house.llm.queue(Answer(body=json.dumps(row.whole()).encode()))
        sent = house.ask(place, openai_chat_requests.PATH, openai_chat_requests.PLAIN)
        assert [theirs(sent.answer.json())] == shown(row, [row.whole()], place)

    check_each(openai_answers.ROWS[rows], comes_back)


@first_and_others
@OPENAI_PLACES
def test_the_members_of_a_streamed_answer(house: House, rows: slice, place: str) -> None:
    asked = {**openai_chat_requests.PLAIN, "stream": True, "stream_options": {"include_usage": True}}

    def comes_back(row: AnswerRow) -> None:
        data = b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in row.chunks())
        house.llm.queue(Answer(headers=EVENTS, body=data + b"data: [DONE]\n\n"))
        sent = house.ask(place, openai_chat_requests.PATH, asked)
        assert [theirs(event) for event in stream_events(sent.answer.content)] == shown(row, row.chunks(), place)

    check_each(openai_answers.ROWS[rows], comes_back)


def theirs(answer: Json, own: frozenset[str] = OWN) -> Json:
    """The answer without what is Mnemoir's own."""
    return {name: value for name, value in answer.items() if name not in own}


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


@first_and_others
@pytest.mark.parametrize("place", ["ollama", "ollama tree"])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_the_members_of_an_answer_of_ollama(house: House, rows: slice, place: str, stream: bool) -> None:
    asked = {**ollama_requests.CHAT.PLAIN, "stream": stream}

    def comes_back(row: LineRow) -> None:
        sent = row.lines(True) if stream else [row.whole(True)]
        house.llm.queue(Answer(headers=LINES, body=b"".join(json.dumps(line).encode() + b"\n" for line in sent)))
        answer = house.ask(place, ollama_requests.CHAT.PATH, asked).answer
        got = [json.loads(line) for line in answer.content.splitlines()]
        hidden = [_without_thinking(line) for line in sent] if place == "ollama tree" else sent
        assert [theirs(line) for line in got] == [theirs(line) for line in hidden if line]

    check_each(ollama_answers.ROWS[rows], comes_back)


@first_and_others
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_the_members_of_an_answer_to_a_raw_prompt(house: House, rows: slice, stream: bool) -> None:
    asked, own = {**ollama_requests.GENERATE.PLAIN, "raw": True, "stream": stream}, ollama_answers.OWN

    def comes_back(row: LineRow) -> None:
        sent = row.lines(False) if stream else [row.whole(False)]
        house.llm.queue(Answer(headers=LINES, body=b"".join(json.dumps(line).encode() + b"\n" for line in sent)))
        answer = house.ask("ollama", ollama_requests.GENERATE.PATH, asked).answer
        got = [json.loads(line) for line in answer.content.splitlines()]
        assert [theirs(line, own) for line in got] == [theirs(line, own) for line in sent]

    check_each(ollama_answers.OF_GENERATE[rows], comes_back)


def _without_thinking(line: Json) -> Json:
    """A line as a config tree sends it; nothing of one that holds thinking alone."""
    message = {name: value for name, value in line["message"].items() if name != "thinking"}
    is_empty = message != line["message"] and not line["done"]
    return {} if is_empty else {**line, "message": message}
