"""Each member of a client's request is passed, translated, used or told, whole and streamed, at every place."""

from collections.abc import Iterator
from types import ModuleType

import pytest
from _pytest.mark import ParameterSet

from tests.fidelity import openai_chat_requests
from tests.fidelity.conftest import House
from tests.fidelity.fates import Json, Row, expected

TABLES = (openai_chat_requests,)


def cases() -> Iterator[ParameterSet]:
    for table in TABLES:
        for row in table.ROWS:
            for place in row.fates:
                for stream in (False, True):
                    way = "streamed" if stream else "whole"
                    yield pytest.param(table, row, place, stream, id=f"{table.PATH}-{row.name}-{place}-{way}")


@pytest.mark.parametrize(("table", "row", "place", "stream"), list(cases()))
def test_a_member_of_a_request(house: House, table: ModuleType, row: Row, place: str, stream: bool) -> None:
    fate, path = row.fates[place], table.PATH
    sent = house.ask(place, path, {**table.PLAIN, **row.given, "stream": stream})
    if fate.refused:
        assert sent.answer.status_code == 400
        assert fate.refused in sent.answer.text
        assert sent.upstream == []
        return
    assert sent.body == expected(fate, row, plain(house, table, place, stream))
    assert sent.dropped == fate.dropped


def plain(house: House, table: ModuleType, place: str, stream: bool) -> Json:
    """What the model's server gets without the member; asked once for each place."""
    key = (table.PATH, place, stream)
    if key not in house.plain:
        house.plain[key] = house.ask(place, table.PATH, {**table.PLAIN, "stream": stream}).body
    return house.plain[key]
