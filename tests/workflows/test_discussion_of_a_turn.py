"""The discussion of a turn: that of the tag, else of the session; a task of an app has none."""

import json
from dataclasses import replace

import pytest

from mnemoir.core.discussion_id import directory_name
from mnemoir.core.messages import text_message
from mnemoir.core.text import hashes
from tests.wire.framed_prompts import DOCUMENT, QUESTION, rag
from tests.workflows.workflow_kit import SCOPE, caller, chat, events

TELLS = {
    "title": "Tell",
    "type": "Standard",
    "endpointName": "Main",
    "systemPrompt": "<{Discussion_Id}>",
    "prompt": "",
    "addDiscussionIdTimestampsForLLM": True,
    "returnToUser": True,
}
TAG = "[DiscussionId]tea[/DiscussionId]"


def asker(session, *, client_task=None):
    return replace(caller(client_task=client_task), scope=replace(SCOPE, conversation=session))


async def told(desk, text, who):
    """The id that the node saw, between angle brackets."""
    await events(desk.tree(TELLS), chat(text_message("user", text)), who)
    return desk.llm.requests[-1].body["messages"][0]["content"]


def folders(desk):
    return sorted(path.name for path in desk.public.glob("DiscussionIds/*"))


@pytest.mark.parametrize(
    ("session", "text", "seen", "made"),
    [
        (None, "Hello", "<>", []),
        ("s-1", "Hello", "<s-1>", ["s-1"]),
        (None, f"Hello{TAG}", "<tea>", ["tea"]),
        ("s-1", f"Hello{TAG}", "<tea>", ["tea"]),
        ("s-1", "Hello[DiscussionId] [/DiscussionId]", "<>", []),
        ("s-1", "Hello[DiscussionId]../x[/DiscussionId]", "<>", []),
        ("s-1", "Hello[DiscussionId]open", "<s-1>", ["s-1"]),
        ("../x", "Hello", "<../x>", [directory_name("../x")]),
    ],
)
async def test_the_tag_counts_before_the_session(desk, session, text, seen, made):
    assert await told(desk, text, asker(session)) == seen
    assert folders(desk) == made


@pytest.mark.parametrize("text", ["### Task: a title", f"### Task: a title {TAG}"])
async def test_a_clients_own_task_belongs_to_no_discussion(desk, text):
    await told(desk, "Hello", asker("tea"))
    (times,) = desk.public.rglob("timestamps.json")
    before = times.read_bytes()
    assert await told(desk, text, asker("tea", client_task="title_generation")) == "<>"
    assert times.read_bytes() == before
    assert "DiscussionId]" not in desk.llm.requests[-1].prompt


async def test_the_ids_of_a_session_and_of_a_tag_mean_one_discussion(desk):
    await told(desk, "Hello", asker("tea"))
    await told(desk, f"Hello{TAG}", asker(None))
    assert folders(desk) == ["tea"]


async def test_a_temporary_chat_belongs_to_no_discussion(desk):
    who = replace(asker("tea"), is_temporary=True)
    assert await told(desk, f"Hello{TAG}", who) == "<>"
    assert folders(desk) == []


async def test_a_message_is_hashed_with_its_documents(desk):
    framed = rag(DOCUMENT, QUESTION)
    await told(desk, framed, asker("tea"))
    (times,) = desk.public.rglob("timestamps.json")
    assert hashes(text_message("user", framed))[0] in json.loads(times.read_text("utf-8"))
