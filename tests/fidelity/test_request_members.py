"""Each member of a client's request is passed, translated, used or told, whole and streamed, at every place."""

from typing import Any

import pytest

from tests.each_case import check_each
from tests.fidelity import (
    embedding_requests,
    ollama_requests,
    openai_chat_requests,
    openai_completion_requests,
)
from tests.fidelity.conftest import MODEL, House, first_and_others
from tests.fidelity.fates import Json, Row, expected

CHATS = (openai_chat_requests, openai_completion_requests, ollama_requests.CHAT, ollama_requests.GENERATE)
VECTORS = (embedding_requests.OPENAI, embedding_requests.OLLAMA, embedding_requests.OLLAMA_PROMPT)


@pytest.mark.parametrize("table", [*CHATS, *VECTORS], ids=lambda table: table.PATH)
@first_and_others
def test_the_members_of_a_request(house: House, table: Any, rows: slice) -> None:
    def has_its_fates(row: Row) -> None:
        for place in row.fates:
            for way in ("whole", "streamed") if table in CHATS else ("",):
                has_its_fate(house, table, row, place, way)

    check_each(table.ROWS[rows], has_its_fates)


def has_its_fate(house: House, table: Any, row: Row, place: str, way: str) -> None:
    """What the table says of the member happens at this place."""
    fate, asked = row.fates[place], {"stream": way == "streamed"} if way else {}
    sent = house.ask(place, table.PATH, {**table.PLAIN, **row.given, **asked})
    if fate.refused:
        assert (sent.answer.status_code, sent.upstream) == (400, []), (place, way)
        assert fate.refused in sent.answer.text, (place, way)
    elif fate.path:
        assert sent.paths == [fate.path], (place, way)
        raw = {**table.PLAIN, **row.given, "model": MODEL, **raw_stream(table.PATH, way)}
        assert sent.body == raw, (place, way)
    else:
        assert sent.body == expected(fate, row, plain(house, table, place, asked)), (place, way)
    assert sent.dropped == fate.dropped, (place, way)


def raw_stream(path: str, way: str) -> Json:
    """How a raw request says that it wants a stream."""
    if path.startswith("/api/"):
        return {"stream": way == "streamed"}
    return {"stream": True, "stream_options": {"include_usage": True}} if way == "streamed" else {}


def plain(house: House, table: Any, place: str, asked: Json) -> Json:
    """What the model's server gets without the member; asked once for each place."""
    key = (table.PATH, place, str(asked))
    if key not in house.plain:
        house.plain[key] = house.ask(place, table.PATH, {**table.PLAIN, **asked}).body
    return house.plain[key]
