"""What was recalled for a question stays with it: in each later request of the conversation, as long as it holds."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
import pytest_asyncio

from mnemoir.core.text import INTRODUCTION, OPENING, tokens_of
from tests.chats.chat_kit import Chats, opened_chats, said
from tests.chats.recall_kit import CALL, ON, Talk, learn, learn_statements, lines_in, recalled_in, remember, shown
from tests.remembering_model import is_extraction
from tests.scripted_llm import Answer, ScriptedLLM

pytestmark = pytest.mark.asyncio(loop_scope="module")
VEGAN, GRAZ = "Is vegan since 2019", "Lives in Graz near the river"
COOK, WALK = "What shall a vegan cook?", "Which river walk in Graz?"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def everyones(tmp_path_factory):
    async with ScriptedLLM() as llm, opened_chats(tmp_path_factory.mktemp("standing"), llm) as opened:
        learn_statements(llm)
        yield opened


@pytest.fixture
def chats(everyones: Chats) -> Chats:
    everyones.llm.clear()
    return everyones.anew()


async def began(chats: Chats, id: str | None = "tea") -> Talk:
    """A conversation of one question, in front of which one memory stands."""
    if not (await chats.get("/api/memories?user_id=user"))["results"]:
        await remember(chats, VEGAN)
    talk = Talk(chats, id=id)
    await talk.say(COOK)
    assert talk.lines == {COOK: [VEGAN]}
    return talk


# --- what stays


async def test_each_request_begins_with_the_whole_one_before_and_says_a_memory_once(chats):
    talk = await began(chats)
    await remember(chats, GRAZ)
    await talk.say(WALK)
    await talk.say("Anything else?")
    assert talk.goes_on
    assert talk.former == {COOK: [VEGAN], WALK: [GRAZ]}
    assert [str(talk.sent[-1]).count(text) for text in (INTRODUCTION, OPENING)] == [1, len(talk.lines)]


async def test_a_memory_that_is_added_between_two_tool_rounds_waits_for_the_next_question(chats):
    talk = await began(chats)
    for _ in range(2):
        chats.llm.reply(tool_calls=[("look", {})])
    await talk.say("Where is the vegan shop?")
    await remember(chats, "Loves the vegan shop in the Annenstrasse")
    await talk.use_tool("one page")
    await talk.use_tool("another page")
    assert talk.goes_on
    assert not any("Annenstrasse" in str(request) for request in talk.sent)
    await talk.say("And that vegan shop?")
    assert talk.lines["And that vegan shop?"][-1] == "Loves the vegan shop in the Annenstrasse"


async def test_a_question_that_nothing_was_found_for_is_not_recalled_for_between_tool_rounds(chats):
    chats.llm.reply(tool_calls=[("look", {})])
    talk = Talk(chats)
    await talk.say(COOK)
    await remember(chats, VEGAN)
    await talk.use_tool("one page")
    assert talk.lines == {}


async def test_tool_results_written_as_text_of_the_user_are_no_question(chats):
    talk = await began(chats)
    await remember(chats, GRAZ)
    result = "[read_file for 'x'] Result:\nvegan Graz river"
    await talk.say(result)
    assert talk.lines == {COOK: [VEGAN]}
    assert talk.sent[-1][: len(talk.sent[0])] == talk.sent[0]


async def test_lines_stand_for_a_client_of_ollama_too(chats):
    await remember(chats, VEGAN)
    history, sent = [said("user", COOK)], []
    for question in ("And tomorrow?", ""):
        body = {"model": "any", "messages": history, "stream": False}
        assert (await chats.ask("POST", "/api/chat", body, x_session_id="tea", **ON)).status == 200
        sent.append(shown(chats))
        history += [said("assistant", "Understood."), said("user", question)]
    assert sent[1][:1] == sent[0]
    assert lines_in(sent[1])[COOK] == [VEGAN]


async def test_former_lines_stand_while_memory_cannot_be_searched(tmp_path):
    async with ScriptedLLM() as llm:
        learn_statements(llm)
        async with opened_chats(tmp_path, llm) as chats:
            talk, project = await began(chats), chats.project
        llm.rule(lambda asked: asked.path.endswith("/embeddings"), Answer(silent=True))
        async with opened_chats(tmp_path, llm, **{"memory.search_timeout_s": 0.05}) as again:
            talk.chats = replace(again, project=project)
            answer = await talk.say("And tomorrow?")
            llm.release()
    assert (answer.headers["x-memory-injected"], answer.headers["x-mnemoir-degraded"]) == ("0", "memory")
    assert talk.lines == {COOK: [VEGAN]}


async def test_a_new_question_has_at_most_five_fitting_lines_of_which_two_stand_already(chats):
    await remember(chats, *(f"Likes vegan dish number {number}" for number in range(12)))
    talk = Talk(chats)
    await talk.say("Which vegan dish?")
    first = talk.lines["Which vegan dish?"]
    await talk.say("Which other vegan dish?")
    second = talk.lines["Which other vegan dish?"]
    assert (len(first), len(second), len(set(first) & set(second))) == (5, 5, 2)


async def test_headers_and_the_trace_count_the_lines_of_the_newest_question(chats):
    talk = await began(chats)
    await remember(chats, GRAZ)
    answer = await talk.say(WALK)
    assert answer.headers["x-memory-injected"] == "1"
    run = await chats.get(f"/api/runs/{answer.headers['x-workflow-run-id']}")
    node = run["workflows"][0]["nodes"][0]
    assert [one["text"] for one in node["memories"]] == [GRAZ]
    assert [one["text"] for one in node["standing"]] == [VEGAN]


# --- what goes


async def deleted(chats: Chats, memory_id: str) -> None:
    assert (await chats.ask("DELETE", f"/api/memories/{memory_id}")).status == 200


async def corrected(chats: Chats, memory_id: str) -> None:
    assert (await chats.ask("PATCH", f"/api/memories/{memory_id}", {"memory": "Eats fish"})).status == 200


async def undo_last(chats: Chats) -> None:
    """Take the last change of the memories back."""
    [change, *_] = (await chats.get("/api/memories/changes?user_id=user"))["results"]
    await chats.post(f"/api/memories/changes/{change['id']}/undo", {})


async def deleted_with_all(chats: Chats, _: str) -> None:
    assert (await chats.ask("DELETE", "/api/memories?user_id=user")).status == 200


@pytest.mark.parametrize("gone", [deleted, corrected, deleted_with_all])
async def test_what_is_no_longer_so_is_in_no_later_request(chats, gone: Callable[[Chats, str], Awaitable[None]]):
    [memory_id] = await remember(chats, VEGAN)
    talk = await began(chats)
    await gone(chats, memory_id)
    await talk.say("Which wine goes with it?")
    assert VEGAN not in str(talk.sent[-1])


async def test_a_memory_closed_by_a_newer_one_or_taken_by_undo_is_in_no_later_request(chats):
    await learn(chats, "Lives in Graz.")
    talk = Talk(chats)
    await talk.say("Where is Graz?")
    assert talk.lines == {"Where is Graz?": ["Lives in Graz."]}
    await learn(chats, "Lives in Linz.")
    await talk.say("And now?")
    assert "Lives in Graz." not in str(talk.sent[-1])
    assert "Lives in Linz." in str(talk.sent[-1])
    await undo_last(chats)
    await talk.say("And later?")
    assert "Lives in Linz." not in str(talk.sent[-1])
    assert talk.former == {"Where is Graz?": ["Lives in Graz."]}


async def test_a_memory_that_is_taken_back_stands_again(chats):
    memory_id = (await learn(chats, VEGAN))["results"][0]["id"]
    talk = await began(chats)
    await deleted(chats, memory_id)
    await talk.say("Which wine?")
    await undo_last(chats)
    await talk.say("Which glass?")
    assert talk.lines[COOK] == [VEGAN]


# --- edits, branches, windows


async def test_an_edited_question_has_no_lines_unless_it_is_the_newest(chats):
    talk = await began(chats)
    await remember(chats, GRAZ)
    await talk.say(WALK)
    edited = [said("user", "What shall I cook, vegan that I am?"), *talk.history[1:]]
    await talk.send(*edited, said("user", "So?"))
    assert talk.former == {}
    await talk.send(said("user", COOK), *talk.history[1:], said("user", "So?"))
    assert talk.former == {COOK: [VEGAN], WALK: [GRAZ]}


async def test_a_regenerated_answer_recalls_anew(chats):
    talk = await began(chats)
    await remember(chats, "Owns a vegan cook book")
    await talk.send(talk.history[0])
    assert talk.lines == {COOK: [VEGAN, "Owns a vegan cook book"]}
    await talk.say("Next?")
    assert talk.former[COOK] == [VEGAN, "Owns a vegan cook book"]


async def test_a_prefilled_answer_uses_the_lines_as_they_are(chats):
    talk = await began(chats)
    await remember(chats, "Owns a vegan cook book")
    await talk.send(talk.history[0], said("assistant", "You could"))
    assert talk.lines == {COOK: [VEGAN]}


async def test_a_cut_history_keeps_the_lines_of_what_is_left(chats):
    talk = await began(chats)
    await remember(chats, GRAZ)
    await talk.say(WALK)
    await talk.send(*talk.history[2:], said("user", "Bye?"))
    assert talk.former == {WALK: [GRAZ]}


async def test_branches_share_the_lines_of_what_they_share(chats):
    talk = await began(chats)
    await remember(chats, GRAZ)
    first, second = said("user", WALK), said("user", "Which other river in Graz?")
    await talk.send(*talk.history, first)
    await talk.send(*talk.history, second)
    assert talk.former == {COOK: [VEGAN]}
    await talk.send(*talk.history, first, said("assistant", "Understood."), said("user", "Sure?"))
    assert talk.former == {COOK: [VEGAN], WALK: [GRAZ]}


async def test_a_copy_of_a_conversation_has_its_lines_also_when_that_is_gone(chats):
    [memory_id] = await remember(chats, VEGAN)
    talk = await began(chats)
    head = (await chats.thread())[-1]["id"]
    copy = {"message_id": head, "id": "copy"}
    assert (await chats.ask("POST", "/api/conversations/tea/branch", copy)).status == 201
    there = Talk(chats, id="copy", history=list(talk.history))
    await there.say("Next?")
    assert there.former == {COOK: [VEGAN]}
    await deleted(chats, memory_id)
    await there.say("Last?")
    assert there.former == {}


async def test_lines_stand_in_the_servers_window_too(chats):
    talk = await began(chats)
    await remember(chats, GRAZ)
    chats.llm.reply(tool_calls=[("look", {})])
    await talk.send(said("user", WALK), history="server")
    await talk.send(said("tool", "a page", tool_call_id=CALL), history="server")
    await talk.send(said("user", "Thanks?"), history="server")
    assert talk.goes_on
    assert talk.former == {COOK: [VEGAN], WALK: [GRAZ]}


# --- limits


async def test_over_the_limit_the_oldest_questions_lose_their_lines_at_a_new_question(tmp_path):
    async with ScriptedLLM() as llm, opened_chats(tmp_path, llm, **{"memory.kept_recall_tokens": 300}) as chats:
        learn_statements(llm)
        talk = Talk(chats)
        for number in range(6):
            await remember(chats, f"Topic{number} " + f"word{number} " * 35)
            llm.reply(tool_calls=[("look", {})])
            await talk.say(f"What of topic{number}?")
            await talk.use_tool("a page")
            assert talk.sent[-1][: len(talk.sent[-2])] == talk.sent[-2]
            former = [line for line in recalled_in(talk.sent[-1]) if f"Topic{number}" not in line.text]
            assert sum(map(tokens_of, former)) <= 300
        assert f"What of topic{0}?" not in talk.lines
        assert "What of topic4?" in talk.lines


async def test_an_eighth_of_a_known_context_is_the_limit(tmp_path):
    async with ScriptedLLM() as llm, opened_chats(tmp_path, llm) as chats:
        learn_statements(llm)
        llm.models, llm.cards = ["far-model"], {"far-model": {"context_length": 2400}}
        await chats.parts.models.inquiry.facts()
        talk = Talk(chats)
        for number in range(6):
            await remember(chats, f"Topic{number} " + f"word{number} " * 35)
            await talk.say(f"What of topic{number}?")
        assert len(talk.lines) < 6


# --- off


async def test_off_for_one_request_nothing_is_written_and_the_next_has_all_again(chats):
    talk = await began(chats)
    await talk.say("Off?", headers={"x_memory": "off"})
    assert talk.lines == {}
    await talk.say("On?")
    assert talk.former == {COOK: [VEGAN]}


async def test_a_project_that_has_memory_off_writes_nothing(chats):
    talk = await began(chats)
    assert (await chats.ask("PUT", "/api/memories/settings", {"memoryEnabled": False})).status == 200
    await talk.say("Off?")
    assert talk.lines == {}


async def test_a_side_task_and_a_temporary_chat_have_no_former_lines(chats):
    talk = await began(chats)
    more = [*talk.history, said("user", "Name this vegan chat")]
    await talk.send(*more, headers={"x_mnemoir_task": "title_generation"})
    assert talk.lines == {}
    await talk.send(*more, store=False)
    assert talk.lines == {"Name this vegan chat": [VEGAN]}


async def test_a_chat_that_is_not_kept_has_the_lines_of_its_newest_question_alone(chats):
    talk = await began(chats, id=None)
    await talk.say("And for a vegan dinner?")
    assert talk.lines == {"And for a vegan dinner?": [VEGAN]}


# --- what was said


async def test_what_was_said_elsewhere_stands_while_its_message_is_there(tmp_path):
    async with ScriptedLLM() as llm, opened_chats(tmp_path, llm) as chats:
        llm.rule(is_extraction, Answer(text='{"facts": []}', silent=True))
        elsewhere, talk = Talk(chats, id="elsewhere"), Talk(chats)
        await elsewhere.say("I love the opera.")
        await talk.say("Which music?")
        assert talk.lines == {"Which music?": ["Said: I love the opera."]}
        llm.release()
        while any(one.waiting or one.running for one in await chats.parts.upkeep.jobs.tally()):  # noqa: ASYNC110  # no answer tells it
            await asyncio.sleep(0.01)
        await talk.say("Which one?")
        assert talk.former == {"Which music?": ["Said: I love the opera."]}
        assert (await chats.ask("DELETE", "/api/conversations/elsewhere")).status == 200
        await talk.say("Which other?")
        assert talk.former == {}


# --- nobody but the model reads them


async def test_the_stored_conversation_and_what_is_learned_from_have_no_lines(chats):
    talk = await began(chats)
    await talk.say("I moved to Bruck.")
    assert [content for _, content in await chats.lines()] == [
        COOK,
        "Understood.",
        "I moved to Bruck.",
        "Understood.",
    ]
    while "I moved to Bruck." not in str(await chats.get("/api/memories?user_id=user")):  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    learned = [asked for asked in chats.llm.requests if "memory_facts" in asked.prompt]
    assert not any("<recalled_memories>" in asked.prompt for asked in learned)
    exported = (await chats.ask("GET", "/api/conversations/tea/export")).body
    assert COOK.encode() in exported
    assert not [word for word in (VEGAN.encode(), b"recalled") if word in exported]


async def test_forgetting_a_conversation_takes_the_runs_in_which_its_memory_stood(chats):
    talk = await began(chats)
    await remember(chats, GRAZ)
    answer = await talk.say(WALK)
    run = answer.headers["x-workflow-run-id"]
    await chats.chat("Hello", id="other")
    assert (await chats.ask("DELETE", "/api/conversations/other")).status == 200
    assert (await chats.ask("GET", f"/api/runs/{run}")).status == 404
