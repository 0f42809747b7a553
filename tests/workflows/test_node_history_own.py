"""Node memory in mode `node`: the node's own prompts and answers."""

import asyncio
import json
import re
from pathlib import Path

import pytest

from mnemoir.conversations.nodes.conversation_nodes import copy_node_memories, forget_node_memories
from mnemoir.conversations.nodes.document import read_document
from mnemoir.conversations.nodes.keys import node_key
from mnemoir.core.errors import ProviderError
from mnemoir.core.events import Finished
from mnemoir.core.messages import ImagePart, Message, TextPart, ToolCall, text_message
from mnemoir.storage.objects.local import LocalObjects
from mnemoir.workflows.run import MOST_KEPT_CHARACTERS
from tests.scripted_llm import Answer, failure
from tests.tree_kit import asked_by, asks
from tests.workflows.history_kit import OWN, keeping, remembering, said, sent
from tests.workflows.workflow_kit import asked, nodes_of

SYSTEM = ("system", "Answer")
CLOCK = {"type": "function", "function": {"name": "clock", "parameters": {}}}
IMAGE = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs="
NEVER = {"title": "Say", "type": "StaticResponse", "content": "Done.", "returnToUser": True}


@pytest.fixture
async def talks(desk, tmp_path):
    async with keeping(desk, tmp_path / "conversations") as talks:
        yield talks


def answering(llm, *texts):
    for text in texts:
        llm.reply(text)


def records(path: Path):
    return [(one.role, one.content) for one in read_document(path.read_bytes()).messages]


def of(llm, title):
    """The messages sent for the node of that title in each run, without its system prompt."""
    fits = asked_by(title)
    return [sent(llm, at)[1:] for at, request in enumerate(llm.requests) if fits(request)]


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
async def test_a_node_is_shown_only_its_own_prompts_and_answers(stream, talks, llm):
    first = asks("Think", "Think about {chat_user_prompt_last_one}", memory=OWN)
    talks.serve(first, remembering(OWN, prompt="{agent1Output}"))
    answering(llm, "thought 1", "a1", "thought 2", "a2")
    client = talks.client()
    await client.says("q1", stream=stream)
    await client.says("q2", stream=stream)
    assert of(llm, "Think")[1] == said("Think about q1", "thought 1", "Think about q2")
    assert of(llm, "Answer")[1] == said("thought 1", "a1", "thought 2")


async def test_stored_texts_are_cleaned_and_rendered(talks, llm):
    thinks = {"removeThinking": True, "startThinkTag": "<think>", "endThinkTag": "</think>"}
    endpoint = {"endpoint": llm.url, "apiTypeConfigFileName": "Open-AI-API", "maxContextTokenSize": 8192, **thinks}
    memory = {**OWN, "query_prompt_template": "Again: #sys.query#"}
    talks.serve(remembering(memory), files={"Endpoints/Main.json": endpoint})
    answering(llm, "<think>hm</think>\n\na1")
    await talks.client().says("q1")
    (file,) = talks.objects()
    assert records(file) == said("Again: q1", "a1")


async def test_a_window_holds_so_many_rounds(talks, llm):
    talks.serve(remembering({**OWN, "window": {"enabled": True, "size": 1}}, prompt="#sys.query#"))
    answering(llm, "a1", "a2")
    client = talks.client()
    for question in ("q1", "q2", "q3"):
        await client.says(question)
    assert sent(llm) == [SYSTEM, *said("q2", "a2", "q3")]


async def test_rounds_of_a_replaced_answer_are_left_out(talks, llm):
    talks.serve(asks("Think", "#sys.query#", memory=OWN), remembering(OWN, prompt="#sys.query#"))
    answering(llm, "t1", "a1", "t2", "a2", "other t2", "other a2")
    client = talks.client()
    await client.says("q1")
    await client.says("q2")
    await client.again()
    assert of(llm, "Think")[-1] == said("q1", "t1", "q2")
    await client.says("q3")
    assert of(llm, "Think")[-1] == said("q1", "t1", "q2", "other t2", "q3")
    assert of(llm, "Answer")[-1] == said("q1", "a1", "q2", "other a2", "q3")


async def test_a_node_that_did_not_run_in_a_turn_remembers_the_turns_before(talks, llm):
    route = {"title": "Route", "type": "ConditionalCustomWorkflow", "conditionalKey": "{chat_user_prompt_last_one}"}
    routes = {"conditionalWorkflows": {"skip": "Skip", "Default": "Deep"}, "returnToUser": True}
    deep = [remembering(OWN, prompt="#sys.query#")]
    files = {"Workflows/Ann/Deep.json": deep, "Workflows/Ann/Skip.json": [NEVER]}
    talks.serve({**route, **routes}, files=files)
    answering(llm, "a1")
    client = talks.client()
    for question in ("q1", "skip", "q3"):
        await client.says(question)
    assert sent(llm) == [SYSTEM, *said("q1", "a1", "q3")]


async def test_a_node_that_runs_several_times_in_a_turn_sees_its_earlier_rounds(talks, llm):
    inner = [asks("Inner", "{agent1Input}", memory=OWN)]

    def run(title, text):
        return {"title": title, "type": "CustomWorkflow", "workflowName": "Inner", "scoped_variables": [text]}

    files = {"Workflows/Ann/Inner.json": inner}
    talks.serve(run("One", "first"), run("Two", "second"), NEVER, files=files)
    answering(llm, "r1", "r2", "r3", "r4")
    client = talks.client()
    await client.says("q1")
    await client.says("q2")
    assert of(llm, "Inner") == [
        said("first"),
        said("first", "r1", "second"),
        said("first", "r1", "second", "r2", "first"),
        said("first", "r1", "second", "r2", "first", "r3", "second"),
    ]


async def test_two_requests_for_one_turn_are_rounds_of_it(talks, llm):
    talks.serve(asks("Think", "#sys.query#", memory=OWN), remembering(OWN, allowTools=True))
    llm.rule(asked_by("Think"), lambda asked: f"thought {len(asked.body['messages']) // 2}")
    llm.queue(Answer(text="", tool_calls=[("clock", {})]))
    client = talks.client()
    client.history.append(text_message("user", "q1"))
    called = await client.events(tools=[CLOCK])
    assert called[-1] == Finished(reason="tool_calls")
    call = ToolCall(id="call_0", name="clock", arguments="{}")
    result = Message(role="tool", parts=(TextPart(text="noon"),), tool_call_id="call_0")
    client.history += [Message(role="assistant", tool_calls=[call]), result]
    await client.asks()
    await client.says("q2")
    assert of(llm, "Think")[-1] == said("q1", "thought 1", "q1", "thought 2", "q2")
    assert of(llm, "Answer")[-1] == said("q1", "Understood.", "q2")


async def test_conversations_users_and_applications_keep_memories_of_their_own(desk, talks, llm):
    talks.serve(remembering(OWN, prompt="#sys.query#"))
    answering(llm, "a1")
    await talks.client("tea").says("q1")
    for client in (talks.client("coffee"), talks.client("tea", user="kim"), talks.client("Tea")):
        await client.says("q2")
        assert sent(llm) == [SYSTEM, ("user", "q2")]
    assert len(talks.objects("alex")) == 3
    assert len(talks.objects("kim")) == 1
    await talks.client("tea").says("q3")
    assert sent(llm) == [SYSTEM, *said("q1", "a1", "q3")]


async def test_a_memory_is_there_after_a_restart(talks, llm):
    talks.serve(remembering(OWN, prompt="#sys.query#"))
    answering(llm, "a1")
    await talks.client().says("q1")
    await talks.restart()
    await talks.client().says("q2")
    assert sent(llm) == [SYSTEM, *said("q1", "a1", "q2")]


HOSTILE = ["../../etc/x", "..\\x", "%2e%2e%2f", "/etc/x", "C:x", ".", "..", "CON", "a b ", "x" * 256, "\u202eevil"]
NO_CONVERSATIONS = {".", "..", "\u202eevil"}  # a node may have these ids, a conversation may not


async def test_untrusted_ids_stay_in_the_folder_and_apart(talks, llm, tmp_path):
    for at, name in enumerate(HOSTILE):
        talks.serve(remembering(OWN, prompt="#sys.query#", id=name))
        await talks.client("tea" if name in NO_CONVERSATIONS else name).says(f"q{at}")
        assert sent(llm) == [SYSTEM, ("user", f"q{at}")]
    kept = talks.objects()
    assert len(kept) == len(HOSTILE)
    assert all(re.fullmatch(r"[A-Za-z0-9._%-]+", step) for file in kept for step in file.parts[-4:])
    assert {path.name for path in tmp_path.iterdir()} == {"conversations", "Public"}


async def test_an_id_keeps_the_memory_of_a_node_that_is_renamed(talks, llm):
    talks.serve(remembering(OWN, "Old", "#sys.query#", id="taster"))
    answering(llm, "a1")
    await talks.client().says("q1")
    talks.serve(NEVER | {"returnToUser": False}, remembering(OWN, "New", "#sys.query#", id="taster"))
    await talks.client().says("q2")
    assert sent(llm) == [("system", "New"), *said("q1", "a1", "q2")]


async def test_nodes_of_one_title_are_distinguished_by_their_numbers(talks, llm):
    talks.serve(asks("Twin", "one", memory=OWN), asks("Twin", "two", memory=OWN), NEVER)
    answering(llm, "r1", "r2")
    client = talks.client()
    await client.says("q1")
    await client.says("q2")
    assert of(llm, "Twin")[2:] == [said("one", "r1", "one"), said("two", "r2", "two")]


async def test_runs_at_once_of_one_node_all_stay_in_its_memory(talks, llm):
    talks.serve(remembering(OWN, prompt="#sys.query#"))
    llm.rule(lambda asked: True, lambda asked: f"to {asked.body['messages'][-1]['content']}")
    clients = [talks.client() for _ in range(8)]
    await asyncio.gather(*(client.says(f"q{at}") for at, client in enumerate(clients)))
    (file,) = talks.objects()
    rounds = records(file)
    assert sorted(rounds[::2]) == [("user", f"q{at}") for at in range(8)]
    assert [text for _, text in rounds[1::2]] == [f"to {text}" for _, text in rounds[::2]]


@pytest.mark.parametrize(
    "broken",
    [failure(500), Answer(text="half an answer", cut_after=2), Answer(text="half an answer", end_after=2)],
    ids=["failed", "torn", "ended early"],
)
async def test_an_answer_that_breaks_off_is_not_remembered(broken, talks, llm):
    talks.serve(remembering(OWN, prompt="#sys.query#"))
    llm.queue(broken)
    answering(llm, "a2")
    client = talks.client()
    with pytest.raises(ProviderError):
        await client.says("q1")
    assert talks.objects() == []
    await client.says("q2")
    (file,) = talks.objects()
    assert records(file) == said("q2", "a2")


async def test_an_answer_that_the_client_did_not_wait_for_is_not_remembered(talks, llm):
    talks.serve(remembering(OWN, prompt="#sys.query#"))
    llm.queue(Answer(text="one two three", stall_after=1))
    client = talks.client()
    asking = asyncio.create_task(client.says("q1"))
    await asked(llm, 1)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert talks.objects() == []


@pytest.mark.parametrize(("reason", "kept"), [("length", True), ("content_filter", False)])
async def test_an_answer_that_ends_at_its_limit_is_remembered_and_one_withheld_is_not(reason, kept, talks, llm):
    talks.serve(remembering(OWN, prompt="#sys.query#"))
    llm.queue(Answer(text="a1", reason=reason))
    await talks.client().says("q1")
    assert len(talks.objects()) == kept


@pytest.mark.parametrize("pieces", [["a", "b" * MOST_KEPT_CHARACTERS, "c"], ["b" * MOST_KEPT_CHARACTERS + "c"]])
async def test_an_endless_answer_is_not_remembered_and_a_note_says_so(pieces, talks, llm):
    talks.serve(remembering(OWN, prompt="#sys.query#"))
    llm.queue(Answer(text="", pieces=pieces))
    await talks.client().says("q1")
    assert talks.objects() == []
    (trace,) = await talks.trace()
    assert "The answer is too long for this node's memory." in trace.notes


def memory_of(talks, title="Answer"):
    key = node_key("Ann", "tea", f"Ann/Chat/{title}")
    return talks.root / "kitchen/alex/objects" / key


async def test_a_memory_that_cannot_be_read_fails_no_chat(talks, llm):
    talks.serve(remembering(OWN, prompt="#sys.query#"))
    memory_of(talks).mkdir(parents=True)
    assert await talks.client().says("q1") == "Understood."
    (trace,) = await talks.trace()
    assert [note.split(":")[0] for note in trace.notes] == [
        "No history is shown",
        "The answer is not in this node's memory",
    ]
    assert trace.error is None


async def test_a_damaged_memory_starts_empty_and_its_bytes_are_kept(talks, llm):
    talks.serve(remembering(OWN, prompt="#sys.query#"))
    memory_of(talks).parent.mkdir(parents=True)
    memory_of(talks).write_bytes(b"not a document")
    await talks.client().says("q1")
    assert memory_of(talks) in talks.objects()
    assert records(memory_of(talks)) == said("q1", "Understood.")
    (copy,) = [file for file in talks.objects() if ".corrupt-" in file.name]
    assert copy.read_bytes() == b"not a document"
    (trace,) = await talks.trace()
    assert "damaged" in trace.notes[0]


async def test_a_memory_of_a_later_version_is_left_as_it_is(talks, llm):
    talks.serve(remembering(OWN, prompt="#sys.query#"))
    later = json.dumps({"version": 9, "messages": "who knows"}).encode()
    memory_of(talks).parent.mkdir(parents=True)
    memory_of(talks).write_bytes(later)
    assert await talks.client().says("q1") == "Understood."
    assert memory_of(talks).read_bytes() == later
    (trace,) = await talks.trace()
    assert ["later version" in note for note in trace.notes] == [True, True]


async def test_turns_before_a_cleared_context_are_hidden_from_nodes_too(talks, llm):
    talks.serve(remembering(OWN, prompt="#sys.query#"))
    client = talks.client()
    await client.says("q1")
    async with talks.desk.conversations.of(client.scope) as own:
        await asyncio.to_thread(own.manager.clear_context, "tea")
    await client.says("q2")
    assert sent(llm) == [SYSTEM, ("user", "q2")]


async def test_a_conversation_is_forgotten_with_all_memories_of_its_nodes(talks, llm):
    talks.serve(asks("Think", "#sys.query#", memory=OWN), remembering(OWN, prompt="#sys.query#"))
    for session in ("tea", "../tea", "coffee"):
        await talks.client(session).says(f"secret of {session}")
    objects = LocalObjects(talks.root / "kitchen/alex/objects")
    assert [forget_node_memories(objects, session) for session in ("tea", "../tea", "tea")] == [2, 2, 0]
    left = b"".join(file.read_bytes() for file in talks.objects())
    assert b"secret of coffee" in left
    assert b"tea" not in left


async def test_a_node_at_work_keeps_nothing_of_a_conversation_that_is_deleted_meanwhile(talks, llm):
    talks.serve(remembering(OWN, prompt="#sys.query#"))
    llm.queue(Answer(text="a1", silent=True))
    client = talks.client()
    asking = asyncio.create_task(client.says("q1"))
    await asked(llm, 1)
    async with talks.desk.conversations.of(client.scope) as own:
        await asyncio.to_thread(own.manager.delete_session, "tea")
    llm.release()
    assert await asking == "a1"
    assert talks.objects() == []


async def test_a_branched_off_conversation_can_take_the_memories_along(talks, llm):
    talks.serve(remembering(OWN, prompt="#sys.query#"))
    answering(llm, "a1", "a2")
    client = talks.client()
    await client.says("q1")
    await client.says("q2")
    async with talks.desk.conversations.of(client.scope) as own:
        first_answer = (await asyncio.to_thread(own.manager.storage.thread_messages, "tea", 3))[-1].id
        await asyncio.to_thread(own.manager.branch_session, "tea", first_answer, "side")
        assert copy_node_memories(own.node_parts.objects, "tea", "side") == 1
    await talks.client("side").says("q3")
    assert sent(llm) == [SYSTEM, *said("q1", "a1", "q3")]


async def test_pictures_are_remembered_by_their_stored_file(talks, llm):
    talks.serve(remembering(OWN, prompt="#sys.query#", acceptImages=True))
    client = talks.client()
    await client.says(Message(role="user", parts=(TextPart(text="q1"), ImagePart(url=IMAGE))))
    await client.says("q2")
    shown = [message["content"] for message in llm.requests[-1].body["messages"]]
    assert [part["type"] for part in shown[1]] == ["image_url", "text"]
    assert shown[1][0]["image_url"]["url"].endswith(IMAGE.partition(",")[2])
    assert IMAGE.partition(",")[2].encode() not in memory_of(talks).read_bytes()


async def test_a_run_that_ends_behind_its_answer_remembers_as_well(talks, llm):
    talks.serve(NEVER, asks("Later", "#sys.query#", memory=OWN))
    answering(llm, "noted 1", "noted 2")
    client = talks.client()
    await client.says("q1")
    first = nodes_of(await talks.desk.runs.next())
    await client.says("q2")
    await talks.desk.runs.next()
    assert [node.title for node in first] == ["Say", "Later"]
    assert of(llm, "Later")[1] == said("q1", "noted 1", "q2")
