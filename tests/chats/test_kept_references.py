"""What is kept of recalled lines tells nothing of their words, and nobody's own words come back to replace them."""

import asyncio
import hashlib
from collections.abc import Sequence

import pytest
import pytest_asyncio

from mnemoir.core.messages import text_message
from mnemoir.core.text import RecalledLine, content_hash, digest, estimate_tokens
from mnemoir.workflows.nodes.recalled_lines import Front, shed
from tests.chats.chat_kit import Chats, opened_chats, said
from tests.chats.recall_kit import Talk, learn_statements, remember
from tests.remembering_model import is_extraction
from tests.scripted_llm import Answer, ScriptedLLM

pytestmark = pytest.mark.asyncio(loop_scope="module")
ALLERGIC = "Is allergic to nuts"
CAKE = "Which cake has nuts?"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def everyones(tmp_path_factory):
    async with ScriptedLLM() as llm, opened_chats(tmp_path_factory.mktemp("references"), llm) as opened:
        learn_statements(llm)
        yield opened


@pytest.fixture
def chats(everyones: Chats) -> Chats:
    everyones.llm.clear()
    return everyones.anew()


@pytest_asyncio.fixture(loop_scope="module")
async def slow(tmp_path):
    """Chats whose turns are never looked into."""
    async with ScriptedLLM() as llm, opened_chats(tmp_path, llm) as opened:
        llm.rule(is_extraction, Answer(text='{"facts": []}', silent=True))
        yield opened
        llm.release()


def guesses(*texts: str) -> list[bytes]:
    """Hashes of texts, as bytes and as text, that a stored reference could be compared with."""
    named = [hashlib.new(name, text.encode()).digest() for name in ("md5", "sha1", "sha256") for text in texts]
    own = [hashlib.blake2b(text.encode(), digest_size=size).digest() for size in (8, 16, 32, 64) for text in texts]
    hashed = [*named, *own, *(made(text) for made in (content_hash, digest) for text in texts)]
    return [form for one in hashed for form in (one, one.hex().encode())]


# --- references


async def test_no_guess_at_a_memory_or_message_can_be_tried_on_the_files_of_conversations(slow):
    elsewhere, talk = Talk(slow, id="elsewhere"), Talk(slow)
    await elsewhere.say("I sing in a choir.")
    await remember(slow, ALLERGIC)
    await talk.say(CAKE)
    assert talk.lines == {CAKE: [ALLERGIC, "Said: I sing in a choir."]}
    slow.llm.release()
    while any(one.waiting or one.running for one in await slow.parts.upkeep.jobs.tally()):  # noqa: ASYNC110  # no answer tells it
        await asyncio.sleep(0.01)
    assert (await slow.ask("DELETE", "/api/memories?user_id=user")).status == 200
    stored = b"".join(file.read_bytes() for file in slow.folder().rglob("*") if file.is_file())
    assert CAKE.encode() in stored
    texts = (ALLERGIC, "I sing in a choir.", "Said: I sing in a choir.")
    assert not [one for one in guesses(*texts) if one in stored]


async def test_a_memory_that_was_renewed_with_the_same_words_stands_as_before(chats):
    [memory_id] = await remember(chats, ALLERGIC)
    talk = Talk(chats)
    await talk.say(CAKE)
    assert (await chats.ask("PATCH", f"/api/memories/{memory_id}", {"metadata": {"by": "a doctor"}})).status == 200
    await talk.say("Thanks?")
    assert talk.former == {CAKE: [ALLERGIC]}
    assert talk.goes_on


async def test_a_memory_with_other_words_leaves_its_line_until_the_change_is_undone(chats):
    [memory_id] = await remember(chats, ALLERGIC)
    talk = Talk(chats)
    await talk.say(CAKE)
    for text in ("Is allergic to bees", "Loves nuts"):
        assert (await chats.ask("PATCH", f"/api/memories/{memory_id}", {"memory": text})).status == 200
        await talk.say(f"Is it {text}?")
        assert CAKE not in talk.lines
    for _ in range(2):
        changes = (await chats.get("/api/memories/changes?user_id=user"))["results"]
        change = next(one for one in changes if not one.get("undone_by") and not one.get("undo_of"))
        await chats.post(f"/api/memories/changes/{change['id']}/undo", {})
    await talk.say("And now?")
    assert talk.lines[CAKE] == [ALLERGIC]


# --- own words


async def test_words_that_were_edited_away_do_not_come_back_with_the_question_that_replaces_them(slow):
    hello = [said("user", "Hello"), said("assistant", "Understood.")]
    ill, fine = said("user", "My hamster is ill."), said("user", "What is my hamster called?")
    talk = Talk(slow)
    for messages in (hello[:1], [*hello, ill], [*hello, ill], [*hello, fine]):
        await talk.send(*messages)
        assert talk.lines == {}
    await talk.send(hello[0])  # before all of them
    assert talk.lines == {}


async def test_what_was_answered_twice_elsewhere_is_said_once(slow):
    elsewhere, talk = Talk(slow, id="elsewhere"), Talk(slow)
    for _ in range(2):
        await elsewhere.send(said("user", "I sing in a choir."))
    await talk.say("Which music?")
    assert talk.lines == {"Which music?": ["Said: I sing in a choir."]}


# --- what is counted


async def test_the_limit_counts_the_blocks_as_they_are_written():
    texts = {place: [RecalledLine(text="Owns a cat", day="2026-03-04", id=f"mem_{place}")] for place in range(40)}
    former = dict[int, Sequence[RecalledLine]](texts)
    lost = await shed(former, limited_to(600))
    messages = Front(former=former).put_before([text_message("user", "")] * 40)
    assert lost == list(range(len(lost)))
    assert 150 < sum(estimate_tokens(one.text) for one in messages) <= 300


def limited_to(most: int):
    """The limit, as nodes ask for it."""

    async def most_tokens() -> int:
        return most

    return most_tokens
