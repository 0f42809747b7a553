"""`/api/discussions`: what is remembered is listed, read, found, carried away and back, made anew and forgotten."""

import asyncio
from dataclasses import replace
from urllib.parse import quote

import orjson
import pytest

from mnemoir.core.discussions import BlockChanges, ChunkSource, NewRecord, RollingSummary, SourceMessage
from mnemoir.core.errors import StorageUnavailable
from mnemoir.core.messages import text_message
from mnemoir.providers.http import call_asgi
from mnemoir.server.discussions.routes import RebuildAnswer
from mnemoir.workflows.rebuilding import RebuildProgress
from tests.scripted_llm import Answer, failure
from tests.server.served_tree import served
from tests.server.server_kit import error_of, succeeded

DISCUSSIONS = "/api/discussions"
ODD_IDS = [
    "a/b",
    "a/memories",
    "x/y/summary",
    "50% tea",
    "tea time",
    "\U0001f375",
    "../x",
    "/etc/passwd",
    "con",
    "%41",
]
SETTINGS = {
    "Workflows/Ann/Memory.json": {
        "endpointName": "Main",
        "systemPrompt": "You sum up.",
        "prompt": "[TextChunk]",
        "chunkEstimatedTokenSize": 20,
        "maxMessagesBetweenChunks": 2,
        "lookbackStartTurn": 0,
    }
}
REMEMBERING = {"discussionIdMemoryFileWorkflowSettings": "Memory"}
SAID = [{"role": "user", "content": f"My cup number {n} is made of very thin blue china."} for n in range(4)]


def chunk(*texts):
    """A chunk of what the user said, with made-up digests."""
    digests = [f"{abs(hash(text)):016x}"[:16] for text in texts]
    said = [SourceMessage(role="user", text=text) for text in texts]
    return ChunkSource(hash=digests[-1] * 4, digests=digests, messages=said)


def record(title, summary):
    return NewRecord(metadata={"title": title, "summary": summary, "entities": ["Ann"], "key_phrases": ["tea"]})


async def remember(server, id="tea-time", summaries=("She likes tea.", "It is green."), user=None, owner=None):
    """A discussion with summaries of chunks, a rolling summary and two records."""
    memory = server.parts.chats.discussions.memory
    discussion = await server.parts.chats.discussions.discussion(user, id, owner)
    await memory.ledger.begin(discussion)
    stored = [await memory.ledger.append(discussion, text, chunk(f"{text} I said.")) for text in summaries]
    rolling = RollingSummary(
        text="All about tea.", hash=stored[0].hash, number=1, updated_at="2026-11-20T10:00:00.000Z"
    )
    await memory.summaries.save(discussion, rolling)
    await memory.records.begin(discussion)
    made = [record("Tea", "Ann drinks green tea."), record("Pot", "The pot is from Kyoto.")]
    await memory.records.append(discussion, made, chunk("Green tea, from a pot."))
    return discussion


def of(id, below="", **query):
    """The target of a request."""
    asked = "&".join(f"{name}={quote(str(value), safe='')}" for name, value in query.items())
    path = f"{DISCUSSIONS}/{quote(id, safe='')}" + (f"/{below}" if below else "")
    return f"{path}?{asked}" if asked else path


async def test_discussions_are_listed_page_by_page(server):
    for id in ("b", "c", "a"):
        await remember(server, id)
    first = await server.get(f"{DISCUSSIONS}?limit=2")
    assert ([one["id"] for one in first["results"]], first["next"]) == (["a", "b"], "b")
    second = await server.get(f"{DISCUSSIONS}?limit=2&after=b")
    assert ([one["id"] for one in second["results"]], second["next"]) == (["c"], None)
    assert first["results"][0].keys() == {*("id", "updated_at", "chunk_summaries", "records", "has_summary", "bytes")}
    assert (first["results"][0]["chunk_summaries"], first["results"][0]["has_summary"]) == (2, True)


async def test_without_any_the_list_is_empty_and_nothing_is_made(server, tmp_path):
    assert await server.get(DISCUSSIONS) == {"results": [], "next": None}
    assert error_of(await server.ask("GET", of("tea-time"))) == (404, "discussion_not_found")
    assert not (tmp_path / "data" / "discussions").exists()


async def test_one_is_shown_in_short(server):
    await remember(server)
    shown = await server.get(of("tea-time"))
    assert (shown["id"], shown["chunk_summaries"], shown["records"]) == ("tea-time", 2, 2)
    assert shown["summary"]["text"] == "All about tea."
    assert [summary["text"] for summary in shown["latest"]] == ["She likes tea.", "It is green."]


async def test_chunk_summaries_are_read_page_by_page_in_their_order(server):
    await remember(server)
    first = await server.get(of("tea-time", "memories", limit=1))
    assert [summary["text"] for summary in first["results"]] == ["She likes tea."]
    second = await server.get(of("tea-time", "memories", limit=1, after=first["next"]))
    assert ([summary["text"] for summary in second["results"]], second["next"]) == (["It is green."], None)
    assert "source" not in second["results"][0]


async def test_summaries_of_what_is_gone_are_shown_only_when_asked_for(server):
    discussion = await remember(server)
    ledger = server.parts.chats.discussions.memory.ledger
    (first, _) = await ledger.all(discussion)
    await ledger.change(discussion, BlockChanges(stale=frozenset([first.id])))
    live = await server.get(of("tea-time", "memories"))
    assert [summary["text"] for summary in live["results"]] == ["It is green."]
    everything = await server.get(of("tea-time", "memories", stale="true"))
    assert ["stale_since" in summary for summary in everything["results"]] == [True, False]
    refused = await server.ask("GET", of("tea-time", "memories", kind="records", stale="true"))
    assert error_of(refused) == (400, "invalid_request")


async def test_records_are_read_newest_first(server):
    await remember(server)
    first = await server.get(of("tea-time", "memories", kind="records", limit=1))
    assert [one["metadata"]["title"] for one in first["results"]] == ["Pot"]
    second = await server.get(of("tea-time", "memories", kind="records", limit=1, after=first["next"]))
    assert ([one["text"] for one in second["results"]], second["next"]) == (["Ann drinks green tea."], None)


@pytest.mark.parametrize(
    ("kind", "words"), [("summaries", "She likes tea. I said."), ("records", "Green tea, from a pot.")]
)
async def test_the_words_behind_a_memory_are_shown_when_asked_for(server, kind, words):
    await remember(server)
    told = await server.get(of("tea-time", "memories", kind=kind, sources="true", limit=1))
    assert told["results"][0]["source"] == [{"role": "user", "content": words}]


@pytest.mark.parametrize("kind", ["summaries", "records"])
async def test_a_page_that_is_not_there_is_refused(server, kind):
    await remember(server)
    for after in ("none", "-1", "9" * 40):
        refused = await server.ask("GET", of("tea-time", "memories", kind=kind, after=after))
        assert error_of(refused) == (400, "invalid_request")


async def test_the_rolling_summary_is_read(server):
    discussion = await remember(server)
    told = await server.get(of("tea-time", "summary"))
    assert (told["summary"]["text"], told["summary"]["number"]) == ("All about tea.", 1)
    await server.parts.chats.discussions.memory.summaries.remove(discussion)
    assert await server.get(of("tea-time", "summary")) == {"summary": None}


async def test_records_are_found_by_phrases(server):
    await remember(server)
    found = await server.get(of("tea-time", "search", q="kyoto; nothing like it"))
    assert [one["text"] for one in found["results"]] == ["The pot is from Kyoto."]
    assert (await server.get(of("tea-time", "search", q="ann", limit=1)))["results"][0].keys() == {
        *("id", "text", "created_at", "metadata", "chunk", "made_by")
    }
    hybrid = await server.get(of("tea-time", "search", q="kyoto", mode="hybrid"))
    assert "The pot is from Kyoto." in [one["text"] for one in hybrid["results"]]


@pytest.mark.parametrize("words", ['"', "*", "NEAR(", "AND", "col:x", "^x", "\0", "x" * 20_000, "\U0001f375", "';--"])
async def test_words_are_never_syntax(server, words):
    await remember(server)
    assert await server.get(of("tea-time", "search", q=words)) == {"results": []}


@pytest.mark.parametrize("query", ["q=", "q=%20", "", "q=x&limit=-1", "q=x&mode=lost"])
async def test_a_search_for_nothing_is_refused(server, query):
    await remember(server)
    assert error_of(await server.ask("GET", f"{of('tea-time', 'search')}?{query}")) == (422, "validation_error")


@pytest.mark.parametrize("id", ODD_IDS)
async def test_any_id_is_reached_by_its_encoded_name_and_stays_inside(server, tmp_path, id):
    await remember(server, id)
    assert [one["id"] for one in (await server.get(DISCUSSIONS))["results"]] == [id]
    assert (await server.get(of(id)))["id"] == id
    assert len((await server.get(of(id, "memories")))["results"]) == 2
    assert (await server.get(of(id, "summary")))["summary"]["text"] == "All about tea."
    assert len((await server.get(of(id, "search", q="tea")))["results"]) == 2
    assert (await server.get(of(id, "export")))["id"] == id
    assert (await server.ask("DELETE", of(id))).status == 204
    assert error_of(await server.ask("GET", of(id))) == (404, "discussion_not_found")
    outside = {path.name for path in tmp_path.iterdir()} - {"data"}
    assert outside == set()


@pytest.mark.parametrize("id", [".", "..", "%20", "%0A", "x%00", "%00"])
async def test_what_can_be_no_id_is_refused(server, id):
    for method, below in (("GET", "/memories"), ("GET", ""), ("DELETE", ""), ("GET", "/search?q=x")):
        answer = await server.ask(method, f"{DISCUSSIONS}/{id}{below}")
        assert error_of(answer) == (400, "invalid_request")


@pytest.mark.parametrize("id", ["none", "..%2F..%2Fx", "%2Fetc%2Fpasswd", "C%3Ax", "x" * 5000, "../x", "a/b"])
async def test_an_unknown_discussion_is_not_found(server, tmp_path, id):
    await remember(server)
    before = set(tmp_path.rglob("*"))
    for method, below in (("GET", "/memories"), ("GET", "/summary"), ("GET", ""), ("DELETE", "")):
        assert error_of(await server.ask(method, f"{DISCUSSIONS}/{id}{below}"))[0] == 404
    assert set(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("below", ["memories", "summary", "search", "export", "import", "rebuild"])
async def test_a_discussion_is_not_forgotten_by_way_of_a_part_of_it(server, below):
    await remember(server, f"tea-time/{below}")
    for method in ("DELETE", "PUT"):
        answer = await server.ask(method, f"{DISCUSSIONS}/tea-time/{below}")
        assert error_of(answer) == (405, "method_not_allowed")
    assert (await server.get(of(f"tea-time/{below}")))["id"] == f"tea-time/{below}"


async def test_one_that_memories_are_being_made_of_is_not_written_over(server):
    discussion = await remember(server)
    copy = await server.get(of("tea-time", "export"))
    async with server.parts.chats.discussions.memory.files.making(discussion):
        answer = await server.ask("POST", of("tea-time", "import", replace="true"), copy)
    assert error_of(answer) == (409, "discussion_busy")


async def test_what_replaces_a_discussion_names_all_of_its_parts(server):
    await remember(server)
    before = await server.get(of("tea-time", "export"))
    parts = {name: before[name] for name in ("rolling_summary", "chunk_summaries", "record_chunks")}
    for left_out in ([*parts], *([name] for name in parts)):
        copy = {name: value for name, value in before.items() if name not in left_out}
        refused = await server.ask("POST", of("tea-time", "import", replace="true"), copy)
        assert (error_of(refused), left_out) == ((422, "validation_error"), left_out)
        assert all(name in refused.body.decode() for name in left_out)
    assert await server.get(of("tea-time", "export")) == before
    nothing: dict[str, object] = {"rolling_summary": None, "chunk_summaries": [], "record_chunks": []}
    await server.post(of("tea-time", "import", replace="true"), before | nothing)
    assert (await server.get(of("tea-time", "export")))["chunk_summaries"] == []


async def test_two_imports_at_once_are_one_import(server):
    await remember(server)
    copy = await server.get(of("tea-time", "export"))
    answers = await asyncio.gather(*(server.ask("POST", of("copy", "import"), copy) for _ in range(4)))
    assert sorted(answer.status for answer in answers) == [200, 409, 409, 409]
    assert (await server.get(of("copy")))["chunk_summaries"] == 2


async def test_a_discussion_goes_out_and_in_again(server):
    await remember(server)
    copy = await server.get(of("tea-time", "export"))
    assert [summary["text"] for summary in copy["chunk_summaries"]] == ["She likes tea.", "It is green."]
    assert error_of(await server.ask("POST", of("tea-time", "import"), copy)) == (409, "discussion_exists")
    told = await server.post(of("a/copy", "import"), copy)
    assert (told["chunk_summaries"], told["records"]) == (2, 2)
    again = await server.get(of("a/copy", "export"))
    assert [without_times(one) for one in again["chunk_summaries"]] == [
        without_times(one) for one in copy["chunk_summaries"]
    ]
    assert again["rolling_summary"]["text"] == "All about tea."
    assert len((await server.get(of("a/copy", "search", q="green tea")))["results"]) == 1
    fewer = copy | {"chunk_summaries": copy["chunk_summaries"][:1], "record_chunks": []}
    await server.post(of("a/copy", "import", replace="true"), fewer)
    shown = await server.get(of("a/copy"))
    assert (shown["chunk_summaries"], shown["records"]) == (1, 0)


def without_times(told):
    return {name: value for name, value in told.items() if name != "created_at"}


SUMMARY = {"text": "x", "hash": "a" * 64, "number": 1}
WRONG: list[object] = [
    *({}, [], "x", None, {"format": "mnemoir-discussion"}, {"format": "else", "version": 1}),
    {"format": "mnemoir-discussion", "version": 2},
    *(
        {"format": "mnemoir-discussion", "version": 1, "chunk_summaries": [SUMMARY | wrong]}
        for wrong in ({"text": 1}, {"hash": None}, {"number": -1}, {"digests": ["../x"]}, {"source": [{"role": 1}]})
    ),
    {"format": "mnemoir-discussion", "version": 1, "record_chunks": [{"hash": "", "records": [{"metadata": []}]}]},
    {"format": "mnemoir-discussion", "version": 1, "rolling_summary": {"text": "x"}},
]


@pytest.mark.parametrize("body", WRONG, ids=range(len(WRONG)))
async def test_what_is_no_export_is_refused_whole(server, body):
    answer = await server.ask("POST", of("tea-time", "import"), orjson.dumps(body))
    assert error_of(answer) == (422, "validation_error")
    assert (await server.get(DISCUSSIONS))["results"] == []


async def test_half_a_character_of_another_program_breaks_no_answer(server):
    discussion = await remember(server, summaries=("She likes \ud83c tea.",))
    found = await server.get(of("tea-time", "memories"))
    assert [summary["text"] for summary in found["results"]] == ["She likes ? tea."]
    copy = await server.get(of("tea-time", "export"))
    assert (await server.post(of("copy", "import"), copy))["chunk_summaries"] == 1
    assert (await server.parts.chats.discussions.memory.ledger.all(discussion))[0].text == "She likes \ud83c tea."


async def test_an_export_is_no_larger_than_any_body_may_be(open_server):
    server = await open_server(max_body_bytes=2000)
    body = {"format": "mnemoir-discussion", "version": 1, "chunk_summaries": [SUMMARY | {"text": "x" * 3000}]}
    assert error_of(await server.ask("POST", of("tea-time", "import"), body)) == (413, "payload_too_large")
    assert error_of(await server.ask("POST", of("tea-time", "import"), b"{")) == (400, "invalid_json")


@pytest.fixture
async def remembering(listen, tmp_path, llm):
    """A server whose user makes chunk summaries of discussions."""
    settings = served(tmp_path, llm.url, files=SETTINGS, user=REMEMBERING)
    return await listen(settings)


async def progress_of(http, server, target, body):
    """The lines of a rebuild."""
    async with http.post(f"{server.url}{target}", json=body) as answer:
        assert answer.status == 200, await answer.read()
        assert answer.headers["content-type"] == "application/x-ndjson"
        return [orjson.loads(line) for line in (await answer.read()).splitlines() if line]


async def test_a_rebuild_is_planned_without_asking_a_model(remembering, llm):
    plan = await remembering.post(of("tea-time", "rebuild", dry_run="true"), {"messages": SAID})
    assert (plan["chunks"], plan["messages"]) == (4, 4)
    assert plan["tokens"] > 0
    assert llm.requests == []
    assert (await remembering.get(DISCUSSIONS))["results"] == []


async def test_a_rebuild_without_a_budget_of_tokens_is_refused_before_a_model_is_asked(remembering, llm):
    text = remembering.parts.access.api_keys.create(role="write", limits={"tokens_day": 0}, by="test")[1]
    answer = await remembering.ask("POST", of("tea-time", "rebuild"), {"messages": SAID}, x_api_key=text)
    assert (error_of(answer), llm.requests) == ((403, "quota_exceeded"), [])


async def test_a_rebuild_tells_how_far_it_is(remembering, http):
    lines = await progress_of(http, remembering, of("tea-time", "rebuild"), {"messages": SAID})
    assert [(line["done"], line["all"]) for line in lines if not line["finished"]][-1] == (4, 4)
    assert (lines[-1]["finished"], lines[-1]["done"], lines[-1]["all"]) == (True, 4, 4)
    assert len((await remembering.get(of("tea-time", "memories")))["results"]) == 4


async def test_a_rebuild_goes_by_the_words_that_were_kept(remembering, http):
    await progress_of(http, remembering, of("tea-time", "rebuild"), {"messages": SAID})
    before = await remembering.get(of("tea-time", "memories"))
    async with http.post(f"{remembering.url}{of('tea-time', 'rebuild')}") as answer:  # no body at all
        lines = [orjson.loads(line) for line in (await answer.read()).splitlines() if line]
    assert (lines[-1]["finished"], lines[-1]["done"]) == (True, 4)
    after = await remembering.get(of("tea-time", "memories"))
    assert [one["hash"] for one in after["results"]] == [one["hash"] for one in before["results"]]
    assert {one["id"] for one in after["results"]} & {one["id"] for one in before["results"]} == set()


async def test_a_rebuild_of_nothing_is_refused(remembering):
    assert error_of(await remembering.ask("POST", of("tea-time", "rebuild")))[0] == 400
    assert error_of(await remembering.ask("POST", of("tea-time", "rebuild", dry_run="true"), {}))[0] == 400


@pytest.mark.parametrize(
    "messages", [[], [{"role": "system", "content": "Be kind."}], [{"role": "user", "content": ""}]]
)
async def test_a_rebuild_from_too_little_leaves_the_old_memories(remembering, http, messages):
    await progress_of(http, remembering, of("tea-time", "rebuild"), {"messages": SAID})
    before = await remembering.get(of("tea-time", "memories"))
    answer = await remembering.ask("POST", of("tea-time", "rebuild"), {"messages": messages})
    assert error_of(answer) == (400, "nothing_to_remember")
    assert await remembering.get(of("tea-time", "memories")) == before
    assert [one["id"] for one in (await remembering.get(DISCUSSIONS))["results"]] == ["tea-time"]


UNUSABLE: dict[str, tuple[dict[str, str], dict[str, object]]] = {
    "no settings are named": ({}, {}),
    "their file is missing": (REMEMBERING, {}),
    "their file is no JSON": (REMEMBERING, {"Workflows/Ann/Memory.json": "{"}),
    "they are a list": (REMEMBERING, {"Workflows/Ann/Memory.json": []}),
    "a size is a word": (
        REMEMBERING,
        {"Workflows/Ann/Memory.json": {**SETTINGS["Workflows/Ann/Memory.json"], "chunkEstimatedTokenSize": "large"}},
    ),
}


@pytest.mark.parametrize("why", UNUSABLE)
async def test_a_rebuild_without_settings_that_can_be_used_is_the_caller_s_to_mend(open_server, tmp_path, llm, why):
    user, files = UNUSABLE[why]
    server = await open_server(served(tmp_path, llm.url, files=files, user=user))
    for target in (of("tea-time", "rebuild"), of("tea-time", "rebuild", dry_run="true")):
        refused = await server.ask("POST", target, {"messages": SAID})
        assert (refused.status, llm.requests) == (400, []), refused.body


async def test_a_rebuild_without_a_config_tree_is_refused(server):
    await remember(server)
    assert error_of(await server.ask("POST", of("tea-time", "rebuild"))) == (400, "invalid_request")


@pytest.mark.parametrize(
    "messages", [[{"role": "robot", "content": "x"}], [{"role": "user"}], "x", [{"role": "user", "content": 1}]]
)
async def test_messages_of_another_shape_are_refused(remembering, messages):
    answer = await remembering.ask("POST", of("tea-time", "rebuild"), {"messages": messages})
    assert error_of(answer) == (422, "validation_error")


async def test_a_user_who_is_not_served_has_no_discussions(remembering):
    assert succeeded(await remembering.ask("GET", f"{DISCUSSIONS}?user=ann"))["results"] == []
    for target in (f"{DISCUSSIONS}?user=otto", of("tea-time", user="otto"), of("tea-time", "memories", user="otto")):
        assert error_of(await remembering.ask("GET", target)) == (400, "invalid_request")


async def test_the_list_tells_of_an_id_that_is_in_two_places_what_is_read(listen, tmp_path, llm):
    settings = served(tmp_path, llm.url, files={"Users/ben.json": {}})
    server = await listen({**settings, "workflows.users": ["ann", "ben"]})
    own = await remember(server, user="ann")
    await server.parts.chats.discussions.memory.ledger.append(
        replace(own, root=own.root.parents[1]), "Old.", chunk("Hi.")
    )
    assert [one["text"] for one in (await server.get(of("tea-time", "memories")))["results"]] == ["Old."]
    assert [one["chunk_summaries"] for one in (await server.get(DISCUSSIONS))["results"]] == [1]


async def test_a_model_that_fails_on_the_way_leaves_the_old_memories_and_the_next_rebuild_goes_on(
    remembering, http, llm
):
    await progress_of(http, remembering, of("tea-time", "rebuild"), {"messages": SAID})
    before = await remembering.get(of("tea-time", "memories"))
    llm.clear()
    llm.queue(Answer(text="One."), Answer(text="Two."), failure(500))
    lines = await progress_of(http, remembering, of("tea-time", "rebuild"), {"messages": SAID})
    assert (lines[-1]["finished"], lines[-1]["done"], lines[-1]["all"]) == (True, 2, 4)
    assert lines[-1]["notes"] != []
    assert await remembering.get(of("tea-time", "memories")) == before
    llm.clear()
    await progress_of(http, remembering, of("tea-time", "rebuild"), {"messages": SAID})
    assert len(llm.requests) == 2
    after = await remembering.get(of("tea-time", "memories"))
    assert [one["text"] for one in after["results"]] == ["One.", "Two.", "Understood.", "Understood."]


async def test_what_a_broken_off_rebuild_left_is_not_listed_and_goes_with_the_discussion(
    remembering, http, llm, tmp_path
):
    llm.queue(Answer(text="One."), failure(500))
    await progress_of(http, remembering, of("tea-time", "rebuild"), {"messages": SAID})
    assert (await remembering.get(DISCUSSIONS))["results"] == []
    assert any(SAID[0]["content"] in file.read_text() for file in tmp_path.rglob("*_memories.jsonl"))
    assert (await remembering.ask("DELETE", of("tea-time"))).status == 204
    assert list(tmp_path.rglob("*_memories.jsonl")) == []
    assert error_of(await remembering.ask("DELETE", of("tea-time"))) == (404, "discussion_not_found")


async def test_a_rebuild_of_which_no_chunk_was_done_leaves_nothing(remembering, http, llm, tmp_path):
    llm.queue(failure(500))
    lines = await progress_of(http, remembering, of("a/b", "rebuild"), {"messages": SAID})
    assert (lines[-1]["finished"], lines[-1]["done"], lines[-1]["all"]) == (True, 0, 4)
    assert (await remembering.get(DISCUSSIONS))["results"] == []
    assert list(tmp_path.rglob("*_memories.jsonl")) == []


async def test_a_rebuild_that_is_closed_lets_go_of_the_discussion_at_once(remembering):
    discussions = remembering.parts.chats.discussions
    messages = [text_message("user", said["content"]) for said in SAID]
    steps = discussions.rebuild(None, "tea-time", messages)
    await anext(steps)
    await steps.aclose()
    async with discussions.memory.files.making(await discussions.discussion(None, "tea-time")) as is_ours:
        assert is_ours


async def test_a_message_without_content_is_a_blank_one(remembering):
    called: dict[str, object] = {"role": "assistant", "content": None, "tool_calls": []}
    plan = await remembering.post(of("tea-time", "rebuild", dry_run="true"), {"messages": [*SAID, called]})
    assert plan["chunks"] == 4


async def test_who_leaves_a_rebuild_ends_it(remembering, http, llm):
    llm.queue(Answer(silent=True))
    asked = asyncio.create_task(progress_of(http, remembering, of("tea-time", "rebuild"), {"messages": SAID}))
    async with asyncio.timeout(60):
        await llm.arrived.wait()
        asked.cancel()
        await asyncio.gather(asked, return_exceptions=True)
        await llm.disconnected.wait()
    lines = await progress_of(http, remembering, of("tea-time", "rebuild"), {"messages": SAID})
    assert lines[-1]["done"] == lines[-1]["all"]


async def test_a_rebuild_that_waits_for_its_model_gives_signs_of_life(listen, tmp_path, llm, http):
    settings = served(tmp_path, llm.url, files=SETTINGS, user=REMEMBERING)
    server = await listen(settings, heartbeat_s=0.01)
    llm.queue(Answer(silent=True))
    async with (
        asyncio.timeout(60),
        http.post(f"{server.url}{of('tea-time', 'rebuild')}", json={"messages": SAID}) as answer,
    ):
        assert await answer.content.readline() == b"\n"
        assert await answer.content.readline() == b"\n"


async def test_what_fails_when_lines_are_out_already_is_the_last_line():
    async def steps():
        yield RebuildProgress(done=1, all=2)
        raise StorageUnavailable("The disk is full.")

    answer = await call_asgi(RebuildAnswer(steps(), heartbeat_s=15.0), "POST", "/")
    assert [orjson.loads(line) for line in answer.body.splitlines()] == [
        {"done": 1, "all": 2, "finished": False, "notes": []},
        {"error": "The disk is full.", "code": "storage_unavailable"},
    ]


ROUTES = [
    ("GET", DISCUSSIONS),
    *(("GET", of("tea-time", below)) for below in ("", "memories", "summary", "search", "export")),
    *(("POST", of("tea-time", below)) for below in ("import", "rebuild")),
    ("DELETE", of("tea-time")),
    ("DELETE", of("tea-time", "memories/{key}")),
]


async def test_no_discussion_is_shown_or_touched_without_a_key(open_server):
    server = await open_server(api_keys=["a-key-of-enough-characters"])
    await remember(server)
    for method, target in ROUTES:
        assert error_of(await server.ask(method, target)) == (401, "unauthorized")
        assert error_of(await server.ask(method, target, authorization="Bearer wrong")) == (401, "unauthorized")
    held = {"authorization": "Bearer a-key-of-enough-characters"}
    assert (await server.get(of("tea-time"), **held))["chunk_summaries"] == 2


async def test_the_description_of_the_routes_names_each_with_a_summary(server):
    paths = (await server.get("/openapi.json"))["paths"]
    told = {path: operations for path, operations in paths.items() if path.startswith(DISCUSSIONS)}
    assert {(method.upper(), path.replace("{id}", "tea-time")) for path in told for method in told[path]} == set(
        ROUTES
    )
    assert all(operation["summary"] for operations in told.values() for operation in operations.values())
