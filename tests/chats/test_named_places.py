"""A request can say behind which stored message it belongs: regenerate and edit at any place, whoever else writes."""

import asyncio

import orjson
import pytest
import pytest_asyncio

from tests.chats.chat_kit import opened_chats, said, texts_of
from tests.scripted_llm import Answer, ScriptedLLM
from tests.server.server_kit import error_of, succeeded

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def everyones(tmp_path_factory):
    async with ScriptedLLM() as llm, opened_chats(tmp_path_factory.mktemp("places"), llm) as place:
        yield place


@pytest.fixture
def chats(everyones):
    everyones.llm.clear()
    everyones.llm.default = Answer(text="Understood.")
    return everyones.anew()


async def ask(chats, text, parent_id, answer="Understood.", **more):
    """The new message alone, as a page sends it."""
    chats.llm.reply(answer)
    return await chats.chat(text, history="server", store=True, parent_id=parent_id, **more)


async def talk(chats):
    """one A two B; the ids."""
    assert (await ask(chats, "one", 0, "A")).status == 200
    first = await chats.thread()
    assert (await ask(chats, "two", first[-1]["id"], "B")).status == 200
    return [message["id"] for message in await chats.thread()]


async def siblings(chats):
    return [message["siblings"] for message in await chats.thread()]


async def test_a_conversation_goes_on_where_it_is_told_to(chats):
    ids = await talk(chats)
    assert texts_of(await chats.lines()) == ["one", "A", "two", "B"]
    assert texts_of(chats.shown) == ["one", "A", "two"]
    assert await siblings(chats) == [[one] for one in ids]


async def test_any_answer_is_regenerated_and_stands_beside_the_other(chats):
    one, a, _, _ = await talk(chats)
    await ask(chats, "one", 0, "A2")
    assert texts_of(await chats.lines()) == ["one", "A2"]
    assert texts_of(chats.shown) == ["one"]
    newest = (await chats.thread())[-1]["id"]
    assert await siblings(chats) == [[one], [a, newest]]


async def test_the_first_message_is_edited_into_a_branch_of_its_own(chats):
    one, *_ = await talk(chats)
    await ask(chats, "ONE", 0, "other")
    assert texts_of(await chats.lines()) == ["ONE", "other"]
    assert texts_of(chats.shown) == ["ONE"]
    assert (await chats.thread())[0]["siblings"] == [one, one + 4]
    assert len(await chats.thread(view="tree")) == 6


async def test_an_edit_in_the_middle_keeps_what_was_before_it(chats):
    _, a, two, _ = await talk(chats)
    await ask(chats, "two?", a, "B2")
    assert texts_of(await chats.lines()) == ["one", "A", "two?", "B2"]
    assert (await chats.thread())[2]["siblings"] == [two, two + 2]


async def test_the_same_words_elsewhere_are_another_message(chats):
    *_, b = await talk(chats)
    await ask(chats, "one", b, "again")
    assert texts_of(await chats.lines()) == ["one", "A", "two", "B", "one", "again"]


async def test_a_branch_is_gone_on_from_while_the_thread_is_another(chats):
    *_, b = await talk(chats)
    await ask(chats, "ONE", 0, "other")
    await ask(chats, "three", b, "C")
    assert texts_of(await chats.lines()) == ["one", "A", "two", "B", "three", "C"]
    assert texts_of(chats.shown) == ["one", "A", "two", "B", "three"]


async def test_a_history_of_the_client_is_placed_by_its_newest_message(chats):
    _, a, two, _ = await talk(chats)
    await chats.chat("whatever", "it shows", "two?", parent_id=a)
    assert texts_of(chats.shown) == ["whatever", "it shows", "two?"]
    assert texts_of(await chats.lines()) == ["one", "A", "two?", "Understood."]
    assert (await chats.thread())[2]["siblings"] == [two, two + 2]


async def test_results_of_tools_go_behind_their_call(chats):
    chats.llm.reply(tool_calls=[("look", {"at": "the pot"})], reason="tool_calls")
    tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
    reply = orjson.loads((await chats.chat("Is it hot?", tools=tools, parent_id=0)).body)["choices"][0]["message"]
    call = (await chats.thread())[-1]["id"]
    result = said("tool", "92 degrees", tool_call_id=reply["tool_calls"][0]["id"])
    assert (await chats.chat(result, tools=tools, history="server", parent_id=call)).status == 200
    assert [one["role"] for one in await chats.thread()] == ["user", "assistant", "tool", "assistant"]


@pytest.mark.parametrize("history", ["server", "client"])
async def test_a_message_the_conversation_does_not_have_is_refused_by_name(chats, history):
    foreign = (await talk(chats))[-1]
    other = chats.anew()
    for id in (foreign, 10**15):
        refused = await other.chat("Hello", history=history, parent_id=id)
        assert error_of(refused) == (400, "invalid_request")
        assert str(id) in orjson.loads(refused.body)["detail"]
    assert await other.ids() == []


@pytest.mark.parametrize("wrong", [-1, 1.5, 2**70])
async def test_a_number_that_is_no_id_is_refused(chats, wrong):
    assert error_of(await chats.chat("Hello", parent_id=wrong)) == (400, "invalid_request")


async def test_what_another_program_means_by_it_is_passed_over(chats):
    assert (await chats.chat("Hello", parent_id="3f0c")).status == 200
    assert (await chats.chat("Hello", "Understood.", "More", parent_id=None)).status == 200
    assert len(await chats.thread()) == 4


async def test_a_place_needs_a_conversation(chats):
    assert error_of(await chats.chat("Hello", id=None, parent_id=0)) == (400, "invalid_request")
    assert error_of(await chats.chat("Hello", store=False, parent_id=0)) == (400, "invalid_request")


async def test_streams_and_answers_that_break_off_stand_where_they_belong(chats):
    one, a, *_ = await talk(chats)
    chats.llm.reply("half of it", cut_after=1)
    await chats.chat("one", history="server", parent_id=0, stream=True)
    while len(await chats.thread(view="tree")) < 5:  # noqa: ASYNC110  # it is stored behind the request
        await asyncio.sleep(0.001)
    newest = (await chats.thread())[-1]
    assert (newest["parent_id"], newest["finish_reason"], newest["siblings"]) == (one, "incomplete", [a, a + 3])
    await ask(chats, "go on", newest["id"], "whole", stream=True)
    assert texts_of(await chats.lines())[-2:] == ["go on", "whole"]


async def test_two_pages_at_once_each_get_the_answer_to_their_branch(chats):
    _, a, _, b = await talk(chats)
    chats.llm.rule(
        lambda asked: "messages" in asked.body and chats.project in asked.prompt,
        lambda asked: f"To {asked.body['messages'][-1]}",
    )
    questions = {f"{chats.project} {n}": (a, b, 0)[n % 3] for n in range(12)}
    sent = (chats.chat(text, history="server", parent_id=parent) for text, parent in questions.items())
    assert {answer.status for answer in await asyncio.gather(*sent)} == {200}
    tree = {message["id"]: message for message in await chats.thread(view="tree")}
    asked = {one["content"]: one for one in tree.values() if one["content"] in questions}
    assert {text: one["parent_id"] or 0 for text, one in asked.items()} == questions
    answers = [one for one in tree.values() if str(one["content"]).startswith("To ")]
    assert len(answers) == 12
    assert all(tree[one["parent_id"]]["content"] in one["content"] for one in answers)


async def test_a_page_whose_branch_was_left_meanwhile_is_still_answered_from_it(chats):
    *_, b = await talk(chats)
    begun = await asyncio.gather(
        *(chats.chat(text, history="server", parent_id=parent) for text, parent in (("left", b), ("right", 0)))
    )
    assert {answer.status for answer in begun} == {200}
    shown = {
        asked.body["messages"][-1]["content"]: [one["content"] for one in asked.body["messages"]]
        for asked in chats.llm.requests
        if "messages" in asked.body
    }
    assert (shown["left"], shown["right"]) == (["one", "A", "two", "B", "left"], ["right"])


async def test_a_branch_is_chosen_with_all_that_follows_on_it(chats):
    one, *_ = await talk(chats)
    await ask(chats, "ONE", 0, "other")
    head = "/api/conversations/tea/head"
    succeeded(await chats.ask("PUT", head, {"message_id": one, "to_newest": True}))
    assert texts_of(await chats.lines()) == ["one", "A", "two", "B"]
    succeeded(await chats.ask("PUT", head, {"message_id": one}))
    assert texts_of(await chats.lines()) == ["one"]
    refused = await chats.ask("PUT", head, {"message_id": 10**12, "to_newest": True})
    assert error_of(refused) == (404, "message_not_found")
