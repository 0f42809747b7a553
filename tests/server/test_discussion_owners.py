"""A discussion belongs to the person whom its requests name, also one that only a tag in the text names.

Nobody needs a key here, or the key is bound to no person. Words are random, so that they are found in no other file.
"""

import string
from random import choices
from urllib.parse import quote

import orjson
import pytest

from tests.server.served_tree import answering, served
from tests.server.server_kit import error_of, succeeded
from tests.server.test_discussion_routes import REMEMBERING, SETTINGS
from tests.server.test_subjects import archive_of, holding

CHAT, TALKS = "/v1/chat/completions", "/api/conversations"
ANNA, BEN = "anna.zanzibar", "ben/tandem:1"  # the folder of the second one does not tell the name
MAKE = {"title": "Sum up", "type": "QualityMemory"}


def a_word() -> str:
    return "".join(choices(string.ascii_lowercase, k=24))


@pytest.fixture(params=["no key", "key of all users"])
async def running(request, open_server, llm, tmp_path):
    """A server, and the headers of an admin."""
    server = await open_server(served(tmp_path, llm.url, MAKE, answering(), files=SETTINGS, user=REMEMBERING))
    if request.param == "no key":
        return server, {}
    return server, {"x_api_key": server.parts.access.api_keys.create(role="admin", by="test")[1]}


async def tell(server, admin, word: str, *, id: str = "tea", user: str | None = None, **more):
    """A chat in which a tag names the discussion, long enough to be summed up; how it names the person varies."""
    said = [{"role": "user", "content": f"My {word} number {n} is made of very thin blue china."} for n in range(6)]
    said[0]["content"] += f" [DiscussionId]{id}[/DiscussionId]"
    named = {} if user is None else {"user": user}
    await server.post(CHAT, {"model": "Ann", "messages": said, **named, **more}, **admin)


async def told(server, admin, user: str | None, id: str = "tea"):
    whose = "" if user is None else f"?user_id={quote(user, safe='')}"
    return await server.ask("GET", f"/api/discussions/{id}/export{whose}", **admin)


async def ids(server, admin, user: str | None) -> list[str]:
    whose = "" if user is None else f"?user_id={quote(user, safe='')}"
    return [one["id"] for one in (await server.get(f"/api/discussions{whose}", **admin))["results"]]


def summed_up(tmp_path, word: str) -> list[str]:
    """The files of discussions with a word."""
    return holding(tmp_path / "Public" / "DiscussionIds", word).get(word, [])


@pytest.mark.parametrize("user", [ANNA, BEN, None])
async def test_a_discussion_is_listed_and_read_by_its_owner_alone(running, user, tmp_path):
    server, admin = running
    word = a_word()
    await tell(server, admin, word, user=user)
    assert await ids(server, admin, user) == ["tea"]
    assert word in (await told(server, admin, user)).body.decode()
    for other in {ANNA, BEN, None} - {user}:
        assert await ids(server, admin, other) == []
        assert error_of(await told(server, admin, other)) == (404, "discussion_not_found")


async def test_the_header_names_the_owner_too(running):
    server, admin = running
    word = a_word()
    await tell(server, {**admin, "x_user_id": ANNA}, word)
    assert word in (await told(server, admin, ANNA)).body.decode()
    assert await ids(server, admin, None) == []


async def test_two_people_with_the_same_tag_have_a_discussion_each(running):
    server, admin = running
    words = {user: a_word() for user in (ANNA, BEN, None)}
    for user, word in words.items():
        await tell(server, admin, word, user=user)
    for user in words:
        copy = (await told(server, admin, user)).body.decode()
        assert [other for other, word in words.items() if word in copy] == [user]


async def test_nobody_deletes_the_discussion_of_another_person(running, tmp_path):
    server, admin = running
    words = {user: a_word() for user in (ANNA, None)}
    for user, word in words.items():
        await tell(server, admin, word, user=user)
    await tell(server, admin, a_word(), user="randomuser", conversation_id="tea")
    for target in (
        f"{TALKS}/tea?user_id=randomuser",
        f"{TALKS}?user_id=randomuser",
        "/api/discussions/tea?user_id=x",
    ):
        await server.ask("DELETE", target, **admin)
    assert all(summed_up(tmp_path, word) for word in words.values())


@pytest.mark.parametrize("user", [ANNA, BEN, "user"])
async def test_all_discussions_of_a_person_go_with_all_their_conversations(running, user, tmp_path):
    server, admin = running
    word, other = a_word(), a_word()
    await tell(server, admin, word, user=user)
    await tell(server, admin, other, user="otto")
    succeeded(await server.ask("DELETE", f"{TALKS}?user_id={quote(user, safe='')}", **admin))
    assert holding(tmp_path, word) == {}
    assert summed_up(tmp_path, other)


@pytest.mark.parametrize("user", [ANNA, BEN, "user"])
async def test_discussions_are_exported_and_erased_with_their_owner(running, user, tmp_path):
    server, admin = running
    word, other = a_word(), a_word()
    await tell(server, admin, word, user=user)
    await tell(server, admin, other, user="otto")
    archive = await archive_of(server, quote(user, safe=""), admin)
    discussion = orjson.loads(archive["projects/default/discussions.jsonl"])
    assert (discussion["id"], word in str(discussion), other in str(discussion)) == ("tea", True, False)
    succeeded(await server.ask("POST", f"/api/subjects/{quote(user, safe='')}/erase", **admin))
    assert holding(tmp_path, word) == {}
    assert summed_up(tmp_path, other)


async def test_a_conversation_takes_the_discussion_that_it_names_along(running, tmp_path):
    server, admin = running
    word = a_word()
    await tell(server, admin, word, user=ANNA, conversation_id="s1")
    succeeded(await server.ask("DELETE", f"{TALKS}/s1?user_id={ANNA}", **admin))
    assert holding(tmp_path, word) == {}


async def test_of_a_discussion_that_another_conversation_goes_on_with_only_its_own_words_go(running, tmp_path):
    server, admin = running
    first, second = a_word(), a_word()
    await tell(server, admin, first, user=ANNA, conversation_id="s1")
    await tell(server, admin, second, user=ANNA, conversation_id="s2")
    succeeded(await server.ask("DELETE", f"{TALKS}/s1?user_id={ANNA}", **admin))
    assert (summed_up(tmp_path, first), bool(summed_up(tmp_path, second))) == ([], True)
    succeeded(await server.ask("DELETE", f"{TALKS}/s2?user_id={ANNA}", **admin))
    assert holding(tmp_path, second) == {}


@pytest.mark.parametrize("user", [ANNA, BEN, "user"])
async def test_a_hold_binds_the_discussions_of_a_person(running, user, tmp_path):
    server, admin = running
    word, name = a_word(), quote(user, safe="")
    await tell(server, admin, word, user=user, conversation_id="s1")
    succeeded(await server.ask("PUT", f"/api/holds/{name}", {"reason": "Case 12"}, **admin))
    for method, target, body in (
        ("DELETE", f"/api/discussions/tea?user_id={name}", None),
        ("DELETE", f"{TALKS}/s1?user_id={name}", None),
        ("DELETE", f"{TALKS}?user_id={name}", None),
        ("POST", f"/api/subjects/{name}/erase", {}),
        ("POST", f"/api/discussions/tea/rebuild?user_id={name}", {}),
    ):
        assert error_of(await server.ask(method, target, body, **admin)) == (409, "legal_hold"), target
    await server.ask("DELETE", "/api/discussions/tea?user_id=randomuser", **admin)
    assert summed_up(tmp_path, word)


async def test_a_key_of_a_person_finds_what_was_said_for_them_before(running):
    server, admin = running
    words = {user: a_word() for user in (ANNA, "user")}
    for user, word in words.items():
        await tell(server, admin, word, user=user)
    for user, word in words.items():
        own = {"x_api_key": server.parts.access.api_keys.create(role="write", user=user, by="test")[1]}
        copy = (await server.ask("GET", "/api/discussions/tea/export", **own)).body.decode()
        assert [one for one in words.values() if one in copy] == [word]
