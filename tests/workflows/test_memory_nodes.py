"""The memories that Recall puts into a prompt, and the turns that Remember queues."""

import pytest

from mnemoir.core.messages import ImagePart, Message, TextPart, text_message
from mnemoir.ports.memory_service import ChatTurn
from mnemoir.workflows.nodes.recalled_lines import Front
from tests.scripted_llm import Answer
from tests.wire.framed_prompts import FRAMED, PLANTED, TYPED
from tests.wire.framed_prompts import QUESTION as ASKED
from tests.workflows.workflow_kit import VEGETARIAN, chat, events

HISTORY = [
    text_message("system", "Be kind."),
    text_message("user", "Hello."),
    text_message("assistant", "Hello Alex."),
]
QUESTION = text_message("user", "What shall I cook? {messages.__class__} {{ 7*7 }} %s ${x}")


async def run(workflows, *messages):
    return await events(workflows, chat(*messages))


async def test_recalled_text_goes_before_the_last_message_and_earlier_messages_stay_the_same(desk, llm):
    await run(desk.workflows(), *HISTORY, QUESTION)
    sent = llm.requests[0].body["messages"]
    assert [message["content"] for message in sent[:3]] == ["Be kind.", "Hello.", "Hello Alex."]
    assert "- [2026-03-04] Is vegetarian" in sent[3]["content"]
    assert sent[3]["content"].endswith(QUESTION.text)


async def test_recalled_text_never_goes_into_a_system_message(desk, llm):
    await run(desk.workflows(), *HISTORY, QUESTION)
    assert [m["role"] for m in llm.requests[0].body["messages"] if "Is vegetarian" in m["content"]] == ["user"]


async def test_without_hits_the_prompt_is_the_clients_request(desk, llm, memory):
    memory.lines = []
    await run(desk.workflows(), *HISTORY, QUESTION)
    assert llm.requests[0].body["messages"][3]["content"] == QUESTION.text


async def test_a_queued_turn_is_recalled_word_for_word(desk, llm, memory):
    memory.unread = [ChatTurn(user_text="I hate peas.", answer="Noted.", said_at="2026-03-05T10:00:00.000Z")]
    await run(desk.workflows(), QUESTION)
    assert "- [2026-03-05] Said: I hate peas." in llm.requests[0].body["messages"][0]["content"]


async def test_a_queued_turn_of_the_same_chat_is_not_recalled(desk, llm, memory):
    memory.unread = [ChatTurn(user_text="Hello.", answer="Hello Alex.", said_at="2026-03-05T10:00:00.000Z")]
    await run(desk.workflows(), *HISTORY, QUESTION)
    assert "Said:" not in llm.requests[0].body["messages"][3]["content"]


async def test_memory_is_searched_for_the_words_as_typed_and_keeps_them_so(desk, memory):
    fenced = Front(place=0, lines=[VEGETARIAN]).put_before([QUESTION])
    await run(desk.workflows(), *HISTORY, *fenced)
    assert memory.asked == [QUESTION.text]
    assert [turn.user_text for turn in memory.kept] == [QUESTION.text]


async def test_an_answer_cut_at_the_token_limit_is_no_source_but_the_users_words_are(desk, llm, memory):
    llm.queue(Answer(text="Half an ans", reason="length"))
    await run(desk.workflows(), QUESTION)
    assert [(turn.user_text, turn.answer) for turn in memory.kept] == [(QUESTION.text, "")]


@pytest.mark.parametrize("answer", [Answer(text="no", reason="content_filter"), Answer(tool_calls=[("look", {})])])
async def test_a_turn_that_is_no_answer_is_not_kept(desk, llm, memory, answer):
    llm.queue(answer)
    await run(desk.workflows(), QUESTION)
    assert memory.kept == []


async def test_a_project_can_switch_memory_off(desk, memory):
    memory.limits = None
    await run(desk.workflows(), QUESTION)
    assert (memory.asked, memory.kept) == ([], [])


def test_pictures_of_the_message_stay_with_it():
    picture = ImagePart(url="data:image/png;base64,AAAA")
    asked = Message(role="user", parts=[TextPart(text="Is this vegan?"), picture])
    (changed,) = Front(place=0, lines=[VEGETARIAN]).put_before([asked])
    assert changed.text.endswith("Is this vegan?")
    assert changed.parts[1:] == (picture,)


def test_without_a_user_message_nothing_is_added():
    assert Front(place=None, lines=[VEGETARIAN]).put_before(HISTORY[:1]) == HISTORY[:1]


@pytest.mark.parametrize("text", [case[1] for case in FRAMED + PLANTED], ids=[case[0] for case in FRAMED + PLANTED])
async def test_memory_is_searched_for_and_learns_the_question_of_a_document_frame(desk, llm, memory, text):
    await run(desk.workflows(), *HISTORY, text_message("user", text))
    assert memory.asked == [ASKED]
    assert [turn.user_text for turn in memory.kept] == [ASKED]
    assert llm.requests[0].body["messages"][3]["content"].endswith(text)


@pytest.mark.parametrize("text", [case[1] for case in TYPED], ids=[case[0] for case in TYPED])
async def test_memory_is_searched_for_and_learns_all_that_a_person_typed(desk, memory, text):
    await run(desk.workflows(), text_message("user", text))
    assert memory.asked == [text.strip()]
    assert [turn.user_text for turn in memory.kept] == [text.strip()]


async def test_memory_is_told_what_was_said_in_the_two_turns_before(desk, memory):
    said = [text_message(role, f"{role} {turn}") for turn in (1, 2, 3) for role in ("user", "assistant")]
    await run(desk.workflows(), *said, text_message("user", "Where does she live?"))
    assert memory.before == ["user 2", "assistant 2", "user 3", "assistant 3"]
