"""Nodes that make memories of a discussion, in whole workflows over real files and a scripted model."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from threading import Thread
from typing import Any, ClassVar

import pytest

from mnemoir.core.errors import SettingsError
from mnemoir.core.messages import text_message
from tests.scripted_llm import failure
from tests.workflows.memory_tree import (
    RECORDS,
    RESPONDER,
    SUMMARIES,
    chunk_of,
    memory_tree,
    of,
    place,
    said,
    summarises,
)
from tests.workflows.workflow_kit import chat, nodes_of, reply

QUALITY = {"title": "Remember", "type": "QualityMemory"}
RECORD = {"title": "Tea", "summary": "Ann drinks green tea.", "entities": ["Ann"], "key_phrases": ["green tea"]}


@pytest.fixture(autouse=True)
def summaries(llm):
    llm.rule(summarises, lambda asked: f"about {chunk_of(asked)[0][:7]}")


async def texts(desk, discussion="d1"):
    return [summary.text for summary in await desk.discussions.ledger.newest(place(desk, discussion), 100)]


async def test_a_conversation_becomes_chunk_summaries_behind_the_answer(desk, llm):
    workflows = memory_tree(desk, RESPONDER, QUALITY)
    llm.reply("the answer")

    assert await reply(workflows, of("d1", *said(8))) == "the answer"
    await desk.runs.next()

    chunks = [chunk_of(asked) for asked in llm.requests if summarises(asked)]
    assert [line[:7] for chunk in chunks for line in chunk] == [f"line {number:02}" for number in range(1, 7)]
    assert await texts(desk) == [f"about {chunk[0][:7]}" for chunk in chunks]


async def test_summarised_messages_are_not_summarised_again(desk, llm):
    workflows = memory_tree(desk, RESPONDER, QUALITY)
    for count in (8, 8, 12):
        llm.reply("the answer")
        await reply(workflows, of("d1", *said(count)))
        await desk.runs.next()

    lines = [line[:7] for asked in llm.requests if summarises(asked) for line in chunk_of(asked)]
    assert lines == [f"line {number:02}" for number in range(1, 11)]


async def test_each_chunk_sees_the_summaries_before_it(desk, llm):
    workflows = memory_tree(desk, RESPONDER, QUALITY)
    llm.reply("the answer")
    await reply(workflows, of("d1", *said(8)))
    await desk.runs.next()

    prompts = [asked.body["messages"][0]["content"] for asked in llm.requests if summarises(asked)]
    nothing = "No preceding memories to show"
    assert prompts[0] == f"SUMMARISE {nothing}|{nothing}|There is not yet a summary file"
    assert prompts[1] == "SUMMARISE about line 01|about line 01|There is not yet a summary file"


async def test_after_an_edit_only_the_chunk_of_the_message_is_made_again(desk, llm):
    workflows = memory_tree(desk, RESPONDER, QUALITY)
    llm.reply("the answer")
    await reply(workflows, of("d1", *said(10)))
    await desk.runs.next()
    before = await texts(desk)
    llm.clear()

    edited = said(10)
    edited[2] = text_message("user", "edited text with words of its own")
    llm.reply("the answer")
    await reply(workflows, of("d1", *edited))
    run = await desk.runs.next()

    [asked] = [asked for asked in llm.requests if summarises(asked)]
    assert any(line.startswith("edited") for line in chunk_of(asked))
    assert len(await texts(desk)) == len(before)
    assert any("marked stale" in note for note in nodes_of(run)[-1].notes)


async def test_thinking_is_not_stored_in_a_memory(desk, llm):
    workflows = memory_tree(desk, RESPONDER, QUALITY, memory={**SUMMARIES, "systemPrompt": "QUIETLY"})
    llm.rule(lambda asked: "QUIETLY" in asked.prompt, "<think>Let me see.</think>\n\nAnn spoke.")
    llm.reply("the answer")
    await reply(workflows, of("d1", *said(8)))
    await desk.runs.next()

    assert set(await texts(desk)) == {"Ann spoke."}


async def test_a_sub_workflow_gets_the_chunk_and_the_earlier_summaries(desk, llm):
    summariser = [
        {"title": "Draft", "type": "Standard", "endpointName": "Main", "systemPrompt": "DRAFT", "prompt": prompt}
        for prompt in ("<{agent1Input}>{agent2Input}|{agent3Input}|{agent4Input}",)
    ]
    workflows = memory_tree(
        desk,
        RESPONDER,
        QUALITY,
        memory={**SUMMARIES, "fileMemoryWorkflowName": "Summarise"},
        files={"Workflows/Ann/Summarise.json": summariser},
    )
    llm.rule(lambda asked: "DRAFT" in asked.prompt, lambda asked: f"draft {chunk_of(asked)[0][:7]}")
    llm.reply("the answer")
    await reply(workflows, of("d1", *said(8)))
    await desk.runs.next()

    prompts = [asked.body["messages"][-1]["content"] for asked in llm.requests if "DRAFT" in asked.prompt]
    nothing = "No preceding memories to show"
    assert prompts[0].endswith(f">{nothing}|{nothing}|There is not yet a summary file")
    assert prompts[1].endswith(">draft line 01|draft line 01|There is not yet a summary file")


async def test_records_are_made_if_the_settings_say_so(desk, llm):
    workflows = memory_tree(desk, RESPONDER, QUALITY, memory=RECORDS)
    llm.rule(lambda asked: "conversation_excerpt" in asked.prompt, f"Here: ```json\n{json.dumps([RECORD])}\n```")
    llm.reply("the answer")
    await reply(workflows, of("d1", *said(8)))
    await desk.runs.next()

    found = await desk.discussions.records.search(place(desk, "d1"), ["green tea"], limit=10)
    assert {record.text for record in found} == {"Ann drinks green tea."}


async def test_after_a_failure_of_the_model_the_next_run_makes_the_remaining_chunks(desk, llm):
    workflows = memory_tree(desk, RESPONDER, QUALITY, memory={**SUMMARIES, "systemPrompt": "FAILING"})
    answers = iter(["first", None, "second", "third", "fourth"])

    def answer(asked):
        text = next(answers)
        return failure(500) if text is None else text

    llm.rule(lambda asked: "FAILING" in asked.prompt, answer)
    for _ in range(2):
        llm.reply("the answer")
        await reply(workflows, of("d1", *said(8)))
        await desk.runs.next()

    kept = await texts(desk)
    assert kept[0] == "first"
    assert kept[1:] == ["second", "third", "fourth"][: len(kept) - 1]
    assert len(kept) > 1


async def test_without_a_discussion_no_memories_are_made(desk, llm):
    workflows = memory_tree(desk, RESPONDER, QUALITY)
    llm.reply("the answer")
    await reply(workflows, chat(*said(8), stream=False))
    run = await desk.runs.next()

    assert not any(summarises(asked) for asked in llm.requests)
    assert nodes_of(run)[-1].output == ""


async def test_a_missing_settings_file_is_noted_in_the_trace_and_fails_no_answer(desk, llm):
    workflows = memory_tree(desk, RESPONDER, QUALITY, discussionIdMemoryFileWorkflowSettings="Missing")
    llm.reply("the answer")

    assert await reply(workflows, of("d1", *said(8))) == "the answer"
    run = await desk.runs.next()
    assert "Missing" in run.error
    assert "discussionIdMemoryFileWorkflowSettings" in run.error


async def test_a_settings_file_without_an_endpoint_is_an_error_with_the_remedy(desk, llm):
    workflows = memory_tree(desk, RESPONDER, QUALITY, memory={**SUMMARIES, "endpointName": ""})
    llm.reply("the answer")
    await reply(workflows, of("d1", *said(8)))
    run = await desk.runs.next()
    told = f"{run.error} {nodes_of(run)[-1].notes}"
    assert "endpointName" in told


class TestSummarising:
    """FullChatSummary, chatSummarySummarizer and the node that writes a summary of the workflow's own."""

    FULL: ClassVar[Mapping[str, Any]] = {"title": "Summary", "type": "FullChatSummary"}
    TOOL: ClassVar[Sequence[Mapping[str, Any]]] = [
        {
            "title": "Fold in",
            "type": "chatSummarySummarizer",
            "endpointName": "Main",
            "systemPrompt": "FOLD [CHAT_SUMMARY]",
            "prompt": "[LATEST_MEMORIES]",
            "loopIfMemoriesExceed": 2,
            "minMemoriesPerSummary": 1,
        }
    ]

    def tree(self, desk, llm, *nodes, **members):
        llm.rule(lambda asked: "FOLD" in asked.prompt, self.folded)
        return memory_tree(
            desk,
            *nodes,
            files={"Workflows/Ann/Tool.json": self.TOOL},
            chatSummaryToolWorkflow="Tool",
            **members,
        )

    @staticmethod
    def folded(asked):
        so_far = asked.body["messages"][0]["content"].removeprefix("FOLD ")
        latest = asked.body["messages"][-1]["content"].split("\n------------\n")
        return f"{'' if so_far.startswith('There is') else so_far + '+'}{'+'.join(text[-2:] for text in latest)}"

    async def test_chunk_summaries_are_added_to_the_summary_once(self, desk, llm):
        workflows = self.tree(desk, llm, RESPONDER, self.FULL)
        for count in (12, 12):
            llm.reply("the answer")
            await reply(workflows, of("d1", *said(count)))
            run = await desk.runs.next()

        numbers = "+".join(text[-2:] for text in await texts(desk))
        summary = await desk.discussions.summaries.load(place(desk, "d1"))
        assert summary.text == numbers == nodes_of(run)[-1].output

    async def test_no_chunk_is_made_or_forgotten_while_a_plain_prompt_is_answered(self, desk, llm):
        free = []

        async def is_free():
            async with desk.discussions.files.making(place(desk, "d1")) as is_alone:
                free.append(is_alone)

        def answers(asked):
            somebody = Thread(target=asyncio.run, args=(is_free(),))
            somebody.start()
            somebody.join()
            return "All about lines."

        llm.rule(lambda asked: "PLAINLY" in asked.prompt, answers)
        plain = {"title": "Fold", "type": "chatSummarySummarizer", "endpointName": "Main", "prompt": "PLAINLY"}
        workflows = self.tree(desk, llm, RESPONDER, QUALITY, plain)
        for _ in range(2):
            await reply(workflows, of("d1", *said(12)))
            run = await desk.runs.next()

        assert nodes_of(run)[-1].output == "All about lines."
        assert free == [False]

    async def test_a_summary_that_is_not_written_is_noted(self, desk, llm):
        llm.rule(lambda asked: "PLAINLY" in asked.prompt, "<think>Nothing to say.</think>")
        plain = {"title": "Fold", "type": "chatSummarySummarizer", "endpointName": "Main", "prompt": "PLAINLY"}
        await reply(self.tree(desk, llm, RESPONDER, QUALITY, plain), of("d1", *said(12)))
        assert "was empty" in nodes_of(await desk.runs.next())[-1].notes[-1]

    async def test_a_replaced_chunk_is_added_to_the_summary_again(self, desk, llm):
        workflows = self.tree(desk, llm, RESPONDER, self.FULL)
        llm.reply("the answer")
        await reply(workflows, of("d1", *said(12)))
        await desk.runs.next()
        edited = said(14)
        edited[0] = text_message("user", "line 99 has words of its own")
        llm.reply("the answer")
        await reply(workflows, of("d1", *edited))
        await desk.runs.next()

        assert "99" in (await desk.discussions.summaries.load(place(desk, "d1"))).text

    async def test_with_manual_config_the_summary_is_only_read(self, desk, llm):
        workflows = self.tree(desk, llm, {**self.FULL, "isManualConfig": True, "returnToUser": True})
        assert await reply(workflows, of("d1", *said(12))) == "No summary found"
        assert llm.requests == []

    async def test_a_summary_of_the_workflow_s_own_is_kept(self, desk, llm):
        write = {"title": "Keep", "type": "WriteCurrentSummaryToFileAndReturnIt", "input": "All about {Tea}."}
        workflows = memory_tree(desk, QUALITY, {**write, "returnToUser": True})
        assert await reply(workflows, of("d1", *said(8))) == "All about {Tea}."
        assert (await desk.discussions.summaries.load(place(desk, "d1"))).text == "All about {Tea}."

    async def test_a_summary_without_any_chunk_summary_is_an_error(self, desk, llm):
        write = {"title": "Keep", "type": "WriteCurrentSummaryToFileAndReturnIt", "input": "All."}
        workflows = memory_tree(desk, {**write, "returnToUser": True})
        with pytest.raises(Exception, match="summar"):
            await reply(workflows, of("d1", *said(8)))
        await desk.runs.next()

    async def test_a_summary_that_is_due_needs_its_workflow(self, desk, llm):
        workflows = memory_tree(desk, {**self.FULL, "returnToUser": True})
        with pytest.raises(SettingsError, match="chatSummaryToolWorkflow"):
            await reply(workflows, of("d1", *said(12)))
        await desk.runs.next()
