"""Limits, offsets, queries and filters beyond all reason: clamped or refused, and with little work either way."""

import time

import orjson
import pytest

from tests.server.server_kit import error_of, succeeded

MEMORIES, SEARCH = "/api/memories", "/api/memories/search"
MIB = 1024 * 1024
BIT_S = 0.05  # what the processor may spend on something else meanwhile


@pytest.fixture
async def filled(server):
    """A server with 120 memories of one user."""
    said = [{"role": "user", "content": f"likes tea number {n}"} for n in range(120)]
    await server.post(MEMORIES, {"messages": said, "user_id": "mira", "infer": False})
    await server.post(SEARCH, {"query": "warm up", "user_id": "mira"})
    return server


async def work_of(server, method, target, body=None):
    """The answer, and the processor time it took, which a busy machine does not stretch."""
    began = time.process_time()
    answer = await server.ask(method, target, body)
    return answer, time.process_time() - began


async def bounded(server, method, target, body=None, *, beside):
    """The answer; its work is less than tenfold that of a usual one, or of one of a quarter of the size."""
    _, usual_s = await work_of(server, method, *beside)
    answer, work_s = await work_of(server, method, target, body)
    assert work_s < 10 * (usual_s + BIT_S)
    return answer


FIND = {"query": "likes tea", "user_id": "mira"}


@pytest.mark.real_time
async def test_a_search_gives_a_hundred_at_most(filled):
    for limit, count in ((10**9, 100), (2**63, 100), (0, 100), (100, 100), (1, 1)):
        answer = await bounded(filled, "POST", SEARCH, FIND | {"limit": limit}, beside=(SEARCH, FIND))
        assert len(succeeded(answer)["results"]) == count


@pytest.mark.real_time
async def test_a_page_beyond_the_end_is_answered_at_once(filled):
    for query in ("limit=1000000000", "offset=1000000000", f"limit={'9' * 400}&offset={'9' * 400}"):
        page = f"{MEMORIES}/mira"
        assert (await bounded(filled, "GET", f"{page}?{query}", beside=(page,))).status == 200


@pytest.mark.costly("it is about large texts")
@pytest.mark.real_time
async def test_a_query_of_nine_mebibytes_is_answered(filled):
    for query in ("x" * (9 * MIB), "tea " * (2 * MIB), "é" * (4 * MIB)):
        whole, quarter = (orjson.dumps(FIND | {"query": text}) for text in (query, query[: len(query) // 4]))
        assert (await bounded(filled, "POST", SEARCH, whole, beside=(SEARCH, quarter))).status == 200


@pytest.mark.real_time
async def test_ten_thousand_filters_are_refused(filled):
    for many, some in zip(filters_of(10_000), filters_of(2_500), strict=True):
        usual = (SEARCH, FIND | {"filters": some})
        answer = await bounded(filled, "POST", SEARCH, FIND | {"filters": many}, beside=usual)
        assert error_of(answer) == (400, "invalid_filter")


def filters_of(count):
    yield {f"field {n}": "x" for n in range(count)}
    yield {"OR": [{"agent_id": "x"}] * count}
    yield {"agent_id": ["x"] * count}
    yield {"agent_id": {"in": ["x"] * count}}


async def test_a_filter_on_anything_but_the_listed_names_is_refused(filled):
    for key in ("1=1; --", "user_id", "memories.text", "AND", '"', "agent_id'", "rowid", "$where"):
        for filters in ({key: "x"}, {key: {"gt": 0}}, {"agent_id": "x", key: None}):
            answer = await filled.ask("POST", SEARCH, FIND | {"filters": filters})
            assert error_of(answer) == (400, "invalid_filter")


async def test_a_field_to_sort_by_is_refused_by_its_name(filled):
    for sort in ("text;%20DROP%20TABLE%20memories", "rowid", "-created_at"):
        for name in ("sort", "order_by"):
            refused = await filled.ask("GET", f"{MEMORIES}/mira?{name}={sort}")
            assert error_of(refused) == (400, "unknown_parameter")
            assert name.encode() in refused.body


async def test_hostile_names_in_metadata_are_data(server):
    hostile = {"'; DROP TABLE memories; --": 1, "$.a[0]": {"": None}, 'a"b': [True], "\u0000": "\u202e", "seq": 7}
    said = {"messages": [{"role": "user", "content": "Rows"}], "user_id": "mira", "infer": False, "metadata": hostile}
    await server.post(MEMORIES, said)
    assert (await server.get(f"{MEMORIES}/mira"))["results"][0]["metadata"] == hostile


async def test_a_single_word_of_nine_mebibytes_is_refused_and_of_one_comes_back_as_it_was(open_server):
    server = await open_server({"memory.max_text_kib": 1024})
    for size, status in ((9 * MIB, 413), (MIB, 200)):
        said = {"messages": [{"role": "user", "content": "x" * size}], "user_id": "mira", "infer": False}
        assert (await server.ask("POST", MEMORIES, said)).status == status
    assert [one["memory"] for one in (await server.get(f"{MEMORIES}/mira"))["results"]] == ["x" * MIB]


@pytest.mark.costly("it is about large texts")
async def test_two_mebibytes_told_to_extraction_are_answered(server):
    said = {"messages": [{"role": "user", "content": "I like tea. " + "x" * (2 * MIB)}], "user_id": "mira"}
    assert (await server.ask("POST", MEMORIES, said)).status == 200


SIGNS = ['"tea"', "tea*", "NEAR(tea)", "tea AND", "AND tea", "OR tea", "-tea", "^tea", "+tea", "(tea)", "tea\0"]


async def test_signs_of_a_query_grammar_find_what_the_word_finds(server):
    said = [{"role": "user", "content": text} for text in ("likes tea", "has a dog", "lives in Graz")]
    await server.post(MEMORIES, {"messages": said, "user_id": "mira", "infer": False})
    for query in SIGNS:
        found = await server.post(SEARCH, {"query": query, "user_id": "mira"})
        assert found["results"][0]["memory"] == "likes tea"
