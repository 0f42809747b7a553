"""`/api/conversations/search`: by words, by meaning, by both; narrowed; and no word is ever syntax."""

import string
from itertools import product

import pytest
import pytest_asyncio

from tests.server.conversation_targets import add, at, begin, of, own_project, shared_server
from tests.server.server_kit import error_of

pytestmark = pytest.mark.asyncio(loop_scope="module")
OWN_LOOP = pytest.mark.asyncio(loop_scope="function")  # for a server of its own
everyones, server = shared_server(), own_project()

CAT = "My cat sleeps all day long."
CODE = "The build failed with error E4711 in parser.py."


async def found(server, q: str, **query: object) -> list[str]:
    """The texts that a search finds, best first."""
    results = (await server.get(at("/search", q=q, **query)))["results"]
    return [one["message"]["content"] for one in results]


@pytest_asyncio.fixture(loop_scope="module")
async def filled(server):
    """Two conversations of one user, their vectors made."""
    await begin(server, "pets", CAT, "Cats do that.", "She eats only fish.")
    await begin(server, "work", CODE, "Look at line three.")
    await server.post(of("pets", "/flush"), None)
    return server


async def test_a_hit_tells_its_conversation_its_message_and_its_score(filled):
    (hit,) = (await filled.get(at("/search", q="E4711", mode="keyword", limit=1)))["results"]
    assert hit.keys() == {"conversation_id", "title", "preview", "message", "score"}
    assert (hit["title"], hit["preview"]) == (None, CODE)
    assert hit["conversation_id"] == "work"
    messages = (await filled.get(of("work", "/messages")))["results"]
    assert hit["message"] == messages[0]
    assert hit["score"] > 0


@pytest.mark.parametrize("mode", ["hybrid", "semantic"])
async def test_a_question_that_shares_no_word_finds_what_is_meant(filled, mode):
    assert (await found(filled, "a resting kitten", mode=mode, limit=1)) == [CAT]


@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
async def test_an_exact_word_is_found_first(filled, mode):
    assert (await found(filled, "parser.py", mode=mode))[0] == CODE


async def test_words_alone_find_nothing_by_meaning(filled):
    assert await found(filled, "a resting kitten", mode="keyword") == []


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword"])
async def test_hits_stand_in_the_order_of_their_scores(filled, mode):
    results = (await filled.get(at("/search", q="cats eat fish", mode=mode)))["results"]
    scores = [hit["score"] for hit in results]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) > 1


@pytest.mark.parametrize("mode", ["hybrid", "semantic"])
async def test_what_is_hardly_like_the_question_is_left_out_when_that_is_asked_for(filled, mode):
    everything = await found(filled, "a resting kitten", mode=mode)
    kept = await found(filled, "a resting kitten", mode=mode, related=True)
    assert kept == [CAT, "Cats do that.", "She eats only fish."]
    assert set(everything) >= {*kept, CODE}
    assert await found(filled, "medieval siege weapons", mode=mode, related=True) == []


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword"])
@pytest.mark.parametrize("asked", ["a resting kitten", "medieval siege weapons", "parser.py", "cats eat fish"])
async def test_what_would_be_left_out_then_is_marked_as_unlikely_otherwise(filled, mode, asked):
    results = (await filled.get(at("/search", q=asked, mode=mode)))["results"]
    kept = (await filled.get(at("/search", q=asked, mode=mode, related=True)))["results"]
    assert {hit["message"]["id"] for hit in results if hit.get("likely", True)} == {
        hit["message"]["id"] for hit in kept
    }
    assert {hit["likely"] for hit in [*results, *kept] if "likely" in hit} <= {False}


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword"])
async def test_what_shares_a_word_with_the_question_always_stays(filled, mode):
    said = "All day we talked about something else: " + "bonds, shares, yields and the price of copper wire. " * 9
    await add(filled, "work", said)
    await filled.post(of("work", "/flush"), None)
    assert said in await found(filled, "how long do kittens rest a day?", mode=mode, related=True)


async def test_words_alone_find_what_stands_beside_a_word_only_where_that_is_not_left_out(filled):
    assert await found(filled, "parser.py", mode="keyword") == [CODE, "Look at line three."]
    assert await found(filled, "parser.py", mode="keyword", related=True) == [CODE]


async def test_a_search_is_narrowed_before_it_is_limited(filled):
    assert set(await found(filled, "cat parser line fish", conversation_id="work")) == {CODE, "Look at line three."}
    assert set(await found(filled, "cats", role="assistant")) <= {"Cats do that.", "Look at line three."}
    assert await found(filled, "cats", role="assistant", limit=1) == ["Cats do that."]
    assert await found(filled, "cats", role="tool") == []
    first = (await filled.get(of("work", "/messages")))["results"][0]["created_at"]
    assert CAT not in await found(filled, "cat", since="2999-01-01")
    assert set(await found(filled, "cat parser", until=first)) <= {CAT, "Cats do that.", "She eats only fish."}
    assert await found(filled, "cat", until="1999-01-01T00:00:00Z") == []


async def test_what_is_on_another_branch_is_found_too(filled):
    first = (await filled.get(of("work", "/messages")))["results"][0]
    await add(filled, "work", "Never mind.", parent_id=first["id"])
    (hit,) = (await filled.get(at("/search", q="line three", mode="keyword", limit=1)))["results"]
    assert (hit["message"]["content"], hit["message"]["on_thread"]) == ("Look at line three.", False)


async def test_what_was_deleted_is_not_found(filled):
    await filled.ask("DELETE", of("pets"))
    for mode in ("hybrid", "semantic", "keyword"):
        assert set(await found(filled, "cat fish E4711", mode=mode)) <= {CODE, "Look at line three."}


SYNTAX = [
    *('"', "*", "NEAR(", "AND", "OR", "NOT x", "col:x", "-x", "^x", "a*b", "(", "\0", "x" * 100_000, "\U0001f375"),
    *("';--", "content:cat", "{a b}", "+", '"unclosed', "cat AND (", "%", "_", "\ufeff", "\u202e"),
]


@pytest.mark.costly("each sign is tried")
@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
async def test_words_are_never_syntax(filled, mode):
    pairs = [first + second for first, second in product('"*^-:()+{}', repeat=2)]
    for words in [*SYNTAX, *string.punctuation, *pairs]:
        answer = await filled.ask("GET", at("/search", q=words[:20_000], mode=mode))
        assert answer.status == 200, (words[:20], answer.body)


async def test_signs_of_a_query_grammar_find_what_the_word_finds(filled):
    for signs in ('"E4711"', "E4711*", "NEAR(E4711)", "E4711 AND", "-E4711", "^E4711", "(E4711)"):
        assert (await found(filled, signs, mode="keyword"))[0] == CODE, signs


@pytest.mark.parametrize("query", ["q=", "q=%20", "", "q=x&mode=lost", "q=x&role=robot", "q=x&role=user%20OR%201"])
async def test_a_search_for_nothing_is_refused(server, query):
    assert error_of(await server.ask("GET", f"{at('/search')}?{query}")) == (422, "validation_error")


@pytest.mark.parametrize("name", ["since", "until"])
async def test_a_time_that_is_none_is_refused(server, name):
    for when in ("yesterday", "", "1e99", "true", "2024-13-01", "99999-01-01", "'; --"):
        refused = await server.ask("GET", at("/search", q="x", **{name: when}))
        assert (error_of(refused), when) == ((422, "validation_error"), when)
        assert name.encode() in refused.body


@OWN_LOOP
async def test_without_vectors_only_meaning_is_refused(open_server):
    server = await open_server({"memory.vector_store.enabled": False})
    await begin(server, "c", CAT)
    assert await found(server, "cat") == [CAT]
    assert await found(server, "cat", mode="keyword") == [CAT]
    assert error_of(await server.ask("GET", at("/search", q="cat", mode="semantic"))) == (400, "invalid_request")


async def test_a_search_within_an_unknown_conversation_is_not_found(filled):
    refused = await filled.ask("GET", at("/search", q="cat", conversation_id="none"))
    assert error_of(refused) == (404, "conversation_not_found")
