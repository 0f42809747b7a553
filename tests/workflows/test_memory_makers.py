"""Each memory of a discussion names its maker: the endpoint that answered and its model, or the workflow."""

import json

import pytest

from tests.scripted_llm import failure
from tests.workflows.memory_tree import RECORDS, RESPONDER, SUMMARIES, memory_tree, of, place, said
from tests.workflows.workflow_kit import reply

QUALITY = {"title": "Remember", "type": "QualityMemory"}
RECORD = {"title": "Tea", "summary": "Ann drinks green tea.", "entities": ["Ann"], "key_phrases": ["tea"]}
SUMMARISER = [
    {"title": "Draft", "type": "Standard", "endpointName": "Main", "systemPrompt": "DRAFT", "prompt": "{agent1Input}"}
]


def endpoint(url, **members):
    return {"endpoint": url, "apiTypeConfigFileName": "Open-AI-API", "maxContextTokenSize": 8192, **members}


async def remembered(desk, llm, *nodes, answer="A memory.", **tree):
    """Run a turn of a discussion with the nodes behind its answer, and return the memories made."""
    llm.rule(lambda asked: "ANSWER" not in asked.prompt, answer)
    llm.reply("the answer")
    workflows = memory_tree(desk, RESPONDER, *(nodes or (QUALITY,)), **tree)
    await reply(workflows, of("d1", *said(8)))
    await desk.runs.next()


async def makers(desk):
    discussion = place(desk, "d1")
    summaries = await desk.discussions.ledger.all(discussion)
    records = await desk.discussions.records.newest(discussion, limit=99)
    return {made.made_by for made in (*summaries, *records)}


async def test_an_endpoint_and_its_model(desk, llm):
    await remembered(desk, llm)
    assert await makers(desk) == {"Main (far-model)"}


async def test_the_same_for_records(desk, llm):
    await remembered(desk, llm, answer=json.dumps([RECORD]), memory=RECORDS)
    assert await makers(desk) == {"Main (far-model)"}


async def test_an_endpoint_that_names_no_model(desk, llm):
    files = {"Endpoints/Bare.json": endpoint(llm.url, modelNameToSendToAPI="")}
    await remembered(desk, llm, memory={**SUMMARIES, "endpointName": "Bare"}, files=files)
    assert await makers(desk) == {"Bare"}


async def test_the_backup_where_that_one_answered(desk, llm):
    files = {
        "Endpoints/First.json": endpoint(llm.url, modelNameToSendToAPI="near", backupEndpointName="Main"),
    }
    llm.rule(lambda asked: asked.body["model"] == "near", failure(500))
    await remembered(desk, llm, memory={**SUMMARIES, "endpointName": "First"}, files=files)
    assert await makers(desk) == {"Main (far-model)"}


@pytest.mark.parametrize("kind", ["summaries", "records"])
async def test_a_workflow(desk, llm, kind):
    if kind == "records":
        memory = {**RECORDS, "vectorMemoryWorkflowName": "Draft"}
    else:
        memory = {**SUMMARIES, "fileMemoryWorkflowName": "Draft"}
    await remembered(
        desk, llm, answer=json.dumps([RECORD]), memory=memory, files={"Workflows/Ann/Draft.json": SUMMARISER}
    )
    assert await makers(desk) == {"workflow Draft"}


async def test_the_rolling_summary_too(desk, llm):
    folds = {
        "title": "Fold",
        "type": "chatSummarySummarizer",
        "endpointName": "Main",
        "systemPrompt": "FOLD",
        "prompt": "[CHAT_SUMMARY] [LATEST_MEMORIES]",
        "minMemoriesPerSummary": 1,
    }
    await remembered(desk, llm, QUALITY, folds)
    assert (await desk.discussions.summaries.load(place(desk, "d1"))).made_by == "Main (far-model)"


async def test_a_summary_that_a_workflow_was_given(desk, llm):
    write = {"title": "Keep", "type": "WriteCurrentSummaryToFileAndReturnIt", "input": "All about tea."}
    await remembered(desk, llm, QUALITY, write)
    assert (await desk.discussions.summaries.load(place(desk, "d1"))).made_by == "workflow Chat"
