"""`/window` tells what became of every message of the thread: kept, retained, summarised, dropped or cleared."""

import pytest

from tests.scripted_llm import Answer
from tests.server.conversation_targets import add, begin, of, own_project, shared_server
from tests.server.server_kit import asks

pytestmark = pytest.mark.asyncio(loop_scope="module")
OWN_LOOP = pytest.mark.asyncio(loop_scope="function")  # for a server of its own
everyones, server = shared_server(), own_project()

LONG = [f"Number {number}: {'tea ' * 40}" for number in range(20)]


def ids(window, state):
    """Of the messages that parts with this state reach over; ids of one conversation alone have no gaps."""
    parts = [part for part in window["parts"] if part["state"] == state and part["first_id"] is not None]
    return [id for part in parts for id in range(part["first_id"], part["last_id"] + 1)]


def counts(window):
    """How many messages have each state."""
    found: dict[str, int] = {}
    for part in window["parts"]:
        found[part["state"]] = found.get(part["state"], 0) + part["messages"]
    return found


async def stored(server, id):
    return [message["id"] for message in (await server.get(of(id, "/messages", limit=1000)))["results"]]


async def test_every_message_is_in_one_part_in_the_order_of_the_thread(server):
    await begin(server, "c", *LONG)
    window = await server.get(of("c", "/window", max_tokens=200, summarise="false"))
    told = await stored(server, "c")
    assert [part["first_id"] for part in window["parts"]] == [told[0], *told[-len(window["messages"]) :]]
    assert ids(window, "kept") == told[-len(window["messages"]) :]
    assert ids(window, "dropped") == told[: -len(window["messages"])]


async def test_what_the_window_holds_costs_what_it_says(server):
    await begin(server, "c", *LONG)
    window = await server.get(of("c", "/window", max_tokens=300, summarise="false"))
    assert sum(part["tokens"] for part in window["parts"] if part["state"] == "kept") == window["tokens"] <= 300
    (dropped,) = (part for part in window["parts"] if part["state"] == "dropped")
    assert (dropped["role"], dropped["messages"]) == (None, 20 - len(window["messages"]))
    assert dropped["tokens"] == sum(len(text) // 4 for text in LONG[: dropped["messages"]])


async def test_a_window_that_holds_all_drops_nothing(server):
    await begin(server, "c", "one", "two")
    parts = (await server.get(of("c", "/window")))["parts"]
    assert [(part["state"], part["role"], part["text"]) for part in parts] == [
        ("kept", "user", None),
        ("kept", "assistant", None),
    ]


async def test_an_important_message_is_retained(server):
    await begin(server, "c", *LONG)
    first = (await stored(server, "c"))[0]
    await server.ask("PATCH", of("c", f"/messages/{first}"), {"pinned": True})
    window = await server.get(of("c", "/window", max_tokens=400, strategy="hybrid", summarise="false"))
    assert ids(window, "retained") == [first]
    assert first not in ids(window, "kept")


@pytest.mark.slow
async def test_however_long_a_thread_is_what_is_left_out_is_told_in_stretches(server):
    await begin(server, "c", *(f"Number {number}" for number in range(1000)))
    pinned = (await stored(server, "c"))[300]
    await server.ask("PATCH", of("c", f"/messages/{pinned}"), {"pinned": True})
    window = await server.get(of("c", "/window", max_tokens=20, strategy="hybrid", summarise="false"))
    assert counts(window) == {
        "dropped": 1000 - len(window["messages"]),
        "retained": 1,
        "kept": counts(window)["kept"],
    }
    assert [(part["state"], part["messages"]) for part in window["parts"]][:3] == [
        ("dropped", 300),
        ("retained", 1),
        ("dropped", 999 - 300 - counts(window)["kept"]),
    ]


async def test_files_and_calls_of_what_is_left_out_count_too(server):
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": f'{{"word": "{"tea " * 40}"}}'}}
    picture = {"type": "image_url", "image_url": {"url": "https://pictures.example/cup.png"}}
    await begin(
        server,
        "c",
        messages=[
            {"role": "user", "content": [picture, {"type": "text", "text": "What is this?"}]},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            *({"role": "user", "content": LONG[0]} for _ in range(4)),
        ],
    )
    window = await server.get(of("c", "/window", max_tokens=90, summarise="false"))
    assert window["parts"][0]["state"] == "dropped"
    assert window["parts"][0]["tokens"] > 85 + 40 + 2 * (len(LONG[0]) // 4)


async def test_what_stands_in_front_of_a_new_context_is_cleared(server):
    await begin(server, "c", "one", "two")
    await server.ask("PATCH", of("c"), {"clear_context": True})
    await add(server, "c", "three")
    window = await server.get(of("c", "/window"))
    told = await stored(server, "c")
    assert (ids(window, "cleared"), ids(window, "kept")) == (told[:2], told[2:])


async def test_nothing_of_an_empty_conversation_is_told(server):
    await begin(server, "c")
    window = await server.get(of("c", "/window", q="tea"))
    assert (window["parts"], window["summary"], window["recalled"]) == ([], None, [])


@OWN_LOOP
async def test_a_summary_stands_for_what_it_covers_and_looking_asks_no_model(open_server, llm):
    llm.default = Answer(text="They counted cups of tea.")
    server = await open_server(asks(llm) | {"memory.strategy": "summarization", "memory.max_history_tokens": 600})
    await begin(server, "c", *LONG)
    looked = await server.get(of("c", "/window", max_tokens=400, summarise="false"))
    assert (llm.requests, looked["summary"], ids(looked, "summarised")) == ([], None, [])
    made = await server.get(of("c", "/window", max_tokens=400))
    assert made["summary"]["text"] == "They counted cups of tea."
    summary = next(part for part in made["parts"] if part["state"] == "summary")
    assert summary["text"] == "They counted cups of tea."
    covered = ids(made, "summarised")
    assert 0 < max(covered, default=0) <= made["summary"]["upto_message_id"]
    assert sorted(covered + ids(made, "kept") + ids(made, "dropped")) == await stored(server, "c")
    assert sum(counts(made).values()) == len(LONG)
    again = await server.get(of("c", "/window", max_tokens=400, summarise="false"))
    assert again["parts"] == made["parts"]


async def test_what_would_be_recalled_for_a_question_is_told(server):
    await begin(server, "other", "The pot broke on Monday.", "What a pity.")
    await server.ask("POST", of("other", "/flush"))
    await begin(server, "c", "Hello")
    window = await server.get(of("c", "/window", q="The pot broke on Monday."))
    assert window["recalls"] is False
    assert ("user", "The pot broke on Monday.") in [(one["role"], one["text"]) for one in window["recalled"]]
    assert (await server.get(of("c", "/window")))["recalled"] is None
