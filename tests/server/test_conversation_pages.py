"""Pages of a conversation around any message and in both directions, and its tree in short."""

import pytest

from tests.server.conversation_targets import add, begin, of, own_project, shared_server, thread, told
from tests.server.server_kit import error_of

pytestmark = pytest.mark.asyncio(loop_scope="module")
everyones, server = shared_server(), own_project()

SAID = [f"m{number}" for number in range(9)]


async def ids_of(server):
    """A conversation of nine messages; their ids."""
    await begin(server, "c", *SAID)
    return [message["id"] for message in (await server.get(of("c", "/messages")))["results"]]


async def further(server, page, direction):
    return await server.get(of("c", "/messages", limit=3, cursor=page[direction]))


async def test_a_page_around_a_message_goes_on_in_both_directions(server):
    ids = await ids_of(server)
    page = await server.get(of("c", "/messages", limit=3, around=ids[4]))
    assert (told(page), page["offset"]) == (["m3", "m4", "m5"], 3)
    older, newer = await further(server, page, "next"), await further(server, page, "newer")
    assert (told(older), older["offset"], told(newer), newer["offset"]) == (SAID[:3], 0, SAID[6:], 6)
    assert (older["next"], newer["newer"]) == (None, None)
    assert told(await further(server, older, "newer")) == ["m3", "m4", "m5"]
    assert told(await further(server, newer, "next")) == ["m3", "m4", "m5"]


async def test_a_page_at_an_end_has_nothing_beyond_it(server):
    ids = await ids_of(server)
    newest = await server.get(of("c", "/messages", limit=4))
    assert (told(newest), newest["newer"], newest["offset"]) == (SAID[5:], None, 5)
    first = await server.get(of("c", "/messages", limit=4, around=ids[0]))
    assert (told(first), first["next"], first["offset"]) == (SAID[:3], None, 0)
    last = await server.get(of("c", "/messages", limit=4, around=ids[-1]))
    assert (told(last), last["newer"]) == (["m7", "m8"], None)


async def test_zero_is_the_beginning(server):
    await ids_of(server)
    page = await server.get(of("c", "/messages", limit=4, around=0))
    assert (told(page), page["next"], page["offset"]) == (SAID[:4], None, 0)
    await begin(server, "empty")
    nothing = await server.get(of("empty", "/messages", around=0))
    assert nothing == {"results": [], "next": None, "newer": None, "offset": None}


async def test_a_message_of_another_branch_is_shown_on_its_own_way(server):
    ids = await ids_of(server)
    await add(server, "c", "x", "y", "z", parent_id=ids[5])
    page = await server.get(of("c", "/messages", limit=100, around=ids[7]))
    assert told(page) == SAID
    assert [message["on_thread"] for message in page["results"]] == [True] * 6 + [False] * 3
    assert page["offset"] == 0
    (left,) = (await server.get(of("c", "/messages", limit=1, around=ids[7])))["results"]
    assert (left["content"], left["on_thread"]) == ("m7", False)
    off = await server.get(of("c", "/messages", limit=3, around=ids[7]))
    assert (told(off), off["offset"]) == (["m6", "m7", "m8"], None)
    assert told(await further(server, off, "next")) == ["m3", "m4", "m5"]


async def test_pages_stay_on_their_branch_when_the_head_moves(server):
    ids = await ids_of(server)
    page = await server.get(of("c", "/messages", limit=3))
    await add(server, "c", "elsewhere", parent_id=ids[1])
    assert told(await further(server, page, "next")) == ["m3", "m4", "m5"]


async def test_only_a_first_page_of_a_thread_can_be_around_a_message(server):
    ids = await ids_of(server)
    cursor = (await server.get(of("c", "/messages", limit=3)))["next"]
    for query in ({"cursor": cursor}, {"view": "tree"}):
        assert error_of(await server.ask("GET", of("c", "/messages", around=ids[4], **query))) == (
            400,
            "invalid_request",
        )


@pytest.mark.parametrize("around", [10**15, 2**63 - 1])
async def test_around_a_message_that_is_not_there_is_nothing(server, around):
    await begin(server, "c", "one")
    assert error_of(await server.ask("GET", of("c", "/messages", around=around))) == (404, "message_not_found")


async def test_a_message_of_another_conversation_is_not_there_either(server):
    await begin(server, "d", "foreign")
    foreign = (await server.get(of("d", "/messages")))["results"][0]["id"]
    await begin(server, "c", "one")
    assert error_of(await server.ask("GET", of("c", "/messages", around=foreign))) == (404, "message_not_found")


async def test_cursors_of_another_list_are_refused(server):
    await ids_of(server)
    tree = (await server.get(of("c", "/messages", view="tree", limit=3)))["next"]
    assert error_of(await server.ask("GET", of("c", "/messages", cursor=tree)))[1] == "invalid_cursor"
    assert error_of(await server.ask("GET", of("c", "/branches", cursor=tree)))[1] == "invalid_cursor"


async def test_branches_are_told_in_short_and_in_pages(server):
    ids = await ids_of(server)
    await add(server, "c", "x  " + "long " * 100, "y", parent_id=ids[5])
    first = await server.get(of("c", "/branches", limit=2))
    rest = await server.get(of("c", "/branches", limit=2, cursor=first["next"]))
    branches = [*first["results"], *rest["results"]]
    assert [(one["messages"], one["depth"], one["place"], one["of"]) for one in branches] == [
        (6, 0, 1, 1),
        (3, 1, 1, 2),
        (2, 1, 2, 2),
    ]
    assert [(one["on_thread"], one["ends_on_thread"]) for one in branches] == [
        (True, True),
        (False, False),
        (True, True),
    ]
    assert (branches[0]["text"], branches[0]["role"], branches[1]["first_id"]) == ("m0", "user", ids[6])
    assert branches[2]["text"].startswith("x long long")
    assert len(branches[2]["text"]) <= 100
    assert (first["total"], rest["total"], rest["next"]) == (3, 3, None)


async def test_a_conversation_in_which_nothing_was_said_has_no_branches(server):
    await begin(server, "c")
    assert await server.get(of("c", "/branches")) == {"results": [], "total": 0, "next": None}
    assert await thread(server, "c") == []
