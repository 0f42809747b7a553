"""A question with documents: the model sees all of it, memory and the kept conversation the question alone."""

import pytest
import pytest_asyncio

from tests.chats.chat_kit import Chats, opened_chats, told
from tests.scripted_llm import ScriptedLLM
from tests.wire.framed_prompts import DOCUMENT, QUESTION, librechat, rag

pytestmark = pytest.mark.asyncio(loop_scope="module")
MEMORY_ON = {"x_memory": "on"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def everyones(tmp_path_factory):
    async with ScriptedLLM() as llm, opened_chats(tmp_path_factory.mktemp("framed"), llm) as opened:
        yield opened


@pytest.fixture
def chats(everyones: Chats) -> Chats:
    everyones.llm.clear()
    return everyones.anew()


async def test_the_question_is_kept_and_the_model_gets_all_of_it_as_sent(chats):
    framed = rag(DOCUMENT, QUESTION)
    answer = await chats.chat(framed)
    assert answer.headers["x-conversation-id"] == "tea"
    assert chats.shown == [("user", framed)]
    assert await chats.lines() == [("user", QUESTION), ("assistant", "Understood.")]


async def test_a_history_without_the_earlier_frame_goes_on_in_the_same_thread(chats):
    await chats.chat(rag(DOCUMENT, QUESTION))
    framed = rag(DOCUMENT, "And how many does Berta have?")
    await chats.chat(*told(QUESTION, "Understood.", framed))
    assert chats.shown[-1] == ("user", framed)
    assert await chats.lines(view="tree") == await chats.lines()
    assert [text for _, text in await chats.lines()] == [
        QUESTION,
        "Understood.",
        "And how many does Berta have?",
        "Understood.",
    ]


async def test_a_history_that_gains_a_frame_goes_on_in_the_same_thread(chats):
    await chats.chat(QUESTION)
    await chats.chat(*told(librechat(DOCUMENT, QUESTION), "Understood.", "And now?"))
    assert await chats.lines(view="tree") == await chats.lines()
    assert (await chats.lines())[0] == ("user", QUESTION)


async def test_of_the_stored_history_the_newest_question_alone_is_shown_in_its_frame(chats):
    first, second = rag(DOCUMENT, QUESTION), rag(DOCUMENT, "And bees?")
    await chats.chat(first, history="server")
    assert chats.shown == [("user", first)]
    await chats.chat(second, history="server")
    assert chats.shown == [("user", QUESTION), ("assistant", "Understood."), ("user", second)]
