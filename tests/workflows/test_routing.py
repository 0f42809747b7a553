"""Prompt routing: the categoriser's variables, the category in its answer, and the chosen workflow."""

import pytest

from mnemoir.core.errors import InvalidRequest, SettingsError
from mnemoir.core.events import Finished
from mnemoir.core.messages import text_message
from mnemoir.workflows.config.routing import RoutingTable, category_variables, chosen_category
from tests.tree_kit import asks, user
from tests.workflows.workflow_kit import chat, events, reply, shape

ROUTES = {
    "CODING": {"description": "programs", "workflow": "Code"},
    "MY_CAT": {"description": "my cat", "workflow": "Cat"},
    "SMALL TALK": {"description": "chatter", "workflow": "Talk"},
}
TABLE = RoutingTable.model_validate(ROUTES)


def static(text):
    return [{"title": text, "type": "StaticResponse", "content": text, "returnToUser": True}]


FILES = {
    "Routing/Topics.json": ROUTES,
    "Workflows/Ann/Sort.json": [asks("Sort", "{category_colon_descriptions}|{chat_user_prompt_last_one}")],
    "Workflows/Ann/Code.json": static("code"),
    "Workflows/Ann/Cat.json": static("cat"),
    "Workflows/Ann/Talk.json": static("talk"),
    "Workflows/Ann/_DefaultWorkflow.json": static("default"),
}
ROUTED = {"customWorkflowOverride": False, "routingConfig": "Topics", "categorizationWorkflow": "Sort"}


def routed(desk, files=None, **settings):
    return desk.tree(files={**FILES, **(files or {})}, settings=ROUTED | settings)


@pytest.mark.parametrize(
    ("answer", "category"),
    [
        ("CODING", "CODING"),
        ("The answer is: CODING.", "CODING"),
        ("  coding!  ", "CODING"),
        ("my_cat", "MY_CAT"),
        ("MYCAT", "MY_CAT"),
        ("It is small talk, I think.", "SMALL TALK"),
        ("UNCODING", "CODING"),
        ("Not UNCODING but MY_CAT", "MY_CAT"),
        ("MY_CAT or CODING", "MY_CAT"),
        ("CODINGMYCAT", "CODING"),
        ("SMALLTALK", None),
        ("SMALL", None),
        ("", None),
        (None, None),
        ({"category": "CODING"}, "CODING"),
    ],
)
def test_an_answer_names_a_category(answer, category):
    assert chosen_category(answer, TABLE) == category


def test_no_answer_at_all_is_the_category_unknown_where_there_is_one():
    table = RoutingTable.model_validate({"Unknown": {"description": "rest", "workflow": "Rest"}})
    assert chosen_category(None, table) == "Unknown"


def test_of_two_names_that_begin_together_the_longer_one_is_meant():
    told = {name: {"description": "", "workflow": name} for name in ("SMALL", "SMALL TALK")}
    assert chosen_category("small talk", RoutingTable.model_validate(told)) == "SMALL TALK"


def test_a_name_of_punctuation_alone_is_never_named():
    table = RoutingTable.model_validate({"...": {"description": "", "workflow": "Dots"}})
    assert chosen_category("anything ...", table) is None


def test_the_categories_are_variables_in_the_order_of_the_table():
    bullets = "\n- CODING: programs\n- MY_CAT: my cat\n- SMALL TALK: chatter"
    assert category_variables(TABLE) == {
        "category_colon_descriptions": "CODING: programs; MY_CAT: my cat; SMALL TALK: chatter",
        "category_colon_descriptions_newline_bulletpoint": bullets,
        "categoriesSeparatedByOr": "CODING or MY_CAT or SMALL TALK",
        "categoryNameBulletpoints": "\n- CODING\n- MY_CAT\n- SMALL TALK",
        "category_list": ["CODING", "MY_CAT", "SMALL TALK"],
        "category_descriptions": ["programs", "my cat", "chatter"],
    }


async def test_the_categoriser_reads_the_categories_and_the_conversation(desk, llm):
    llm.reply("CODING")
    assert await reply(routed(desk)) == "code"
    (asked,) = llm.requests
    descriptions = "CODING: programs; MY_CAT: my cat; SMALL TALK: chatter"
    assert asked.body["messages"][1]["content"] == f"{descriptions}|What shall I cook?"
    assert asked.body["stream"] is False


async def test_the_trace_has_the_category_and_both_workflows(desk, llm):
    llm.reply("my_cat")
    await reply(routed(desk))
    run = await desk.runs.next()
    assert (run.category, [workflow.name for workflow in run.workflows]) == ("MY_CAT", ["Sort", "Cat"])


async def test_a_message_without_a_category_runs_the_default_workflow(desk, llm):
    llm.reply("nothing of the kind")
    assert await reply(routed(desk)) == "default"
    run = await desk.runs.next()
    assert (run.category, len(llm.requests)) == ("", 1)


async def test_the_categoriser_is_asked_as_often_as_the_user_wants(desk, llm):
    llm.reply("hm")
    llm.reply("hm")
    llm.reply("CODING")
    assert await reply(routed(desk, maxCategorizationAttempts=3)) == "code"
    assert [shape(workflow) for workflow in (await desk.runs.next()).workflows] == [["Sort"]] * 3 + [["code"]]


async def test_the_whole_workflow_of_the_categoriser_runs_and_sends_nothing_to_the_client(desk, llm):
    sorting = [asks("First", returnToUser=True), asks("Second")]
    llm.reply("CODING")
    happened = await events(routed(desk, {"Workflows/Ann/Sort.json": sorting}))
    assert happened[-1] == Finished()
    assert (len(llm.requests), (await desk.runs.next()).category) == (2, "CODING")


async def test_categories_are_not_seen_in_workflows_that_the_categoriser_runs(desk, llm):
    files = {
        "Workflows/Ann/Sort.json": [{"type": "CustomWorkflow", "workflowName": "Inner"}],
        "Workflows/Ann/Inner.json": [asks("Inner", "{categoriesSeparatedByOr}")],
    }
    await reply(routed(desk, files))
    assert llm.requests[0].body["messages"][1]["content"] == "{categoriesSeparatedByOr}"


async def test_a_categoriser_that_ends_at_a_held_lock_names_no_category(desk):
    lock = {"type": "WorkflowLock", "workflowLockId": "one"}
    sorting = [lock, lock, asks("Sort")]
    assert await reply(routed(desk, {"Workflows/Ann/Sort.json": sorting})) == "default"


async def test_a_user_with_a_workflow_for_everything_needs_no_routing(desk, llm):
    workflows = routed(desk, customWorkflowOverride=True, customWorkflow="Code", routingConfig="gone")
    assert (await reply(workflows), llm.requests) == ("code", [])


@pytest.mark.parametrize(
    ("settings", "missing"),
    [({"routingConfig": "gone"}, "routing 'gone'"), ({"categorizationWorkflow": "gone"}, "workflow 'gone'")],
)
async def test_missing_files_of_routing_are_named(desk, settings, missing):
    with pytest.raises(SettingsError, match=missing):
        await reply(routed(desk, **settings))


SHARED = {
    "Workflows/_shared/Cook/_DefaultWorkflow.json": static("cook"),
    "Workflows/_shared/_hidden/_DefaultWorkflow.json": static("hidden"),
    "Workflows/Ann/Chat.json": static("own"),
    "Users/bob.json": user(),
    "Workflows/Bob/Chat.json": static("bob's"),
}


@pytest.mark.parametrize(
    ("model", "answer"),
    [("Cook", "cook"), ("any:Cook:latest", "cook"), ("Cook:latest", "cook"), ("gpt", "own"), ("Ann:gone", "own")],
)
async def test_the_model_of_a_request_may_name_a_shared_workflow(desk, model, answer):
    assert await reply(desk.tree(files=SHARED), chat(text_message("user", "Hi"), model=model)) == answer


@pytest.mark.parametrize(("model", "answer"), [("ann", "own"), ("Bob:latest", "bob's"), ("Bob:Cook", "cook")])
async def test_with_several_users_the_model_of_a_request_names_the_user(desk, model, answer):
    workflows = desk.tree(files=SHARED, users=("Ann", "Bob"))
    assert await reply(workflows, chat(text_message("user", "Hi"), model=model)) == answer


async def test_the_models_are_the_users_and_the_shared_folders_of_those_who_offer_them(desk):
    workflows = desk.tree(files=SHARED, users=("Ann", "Bob"), settings={"allowSharedWorkflows": True})
    assert workflows.model_names() == ["Ann", "Bob", "Ann:Cook"]
    assert workflows.answerer(chat(model="ann:Cook")).name == "Ann:Cook"


ONLY_SHARED = {"customWorkflowOverride": False, "allowSharedWorkflows": True}
TWO_SHARED = SHARED | {"Workflows/_shared/Bake/_DefaultWorkflow.json": static("bake")}


@pytest.mark.parametrize("model", ["Ann", "gpt-4", "Ann:gone", None])
async def test_a_user_with_only_shared_workflows_names_them_in_the_error(desk, model):
    workflows = desk.tree(files=TWO_SHARED, settings=ONLY_SHARED)
    with pytest.raises(InvalidRequest, match=r"choose one of Ann:Bake, Ann:Cook\.") as refused:
        await reply(workflows, chat(text_message("user", "Hi"), model=model))
    assert refused.value.field == "model"
    with pytest.raises(InvalidRequest, match="choose one of"):
        workflows.answerer(chat(model=model))


async def test_a_user_with_only_shared_workflows_answers_by_each_of_them(desk):
    workflows = desk.tree(files=TWO_SHARED, settings=ONLY_SHARED)
    assert workflows.model_names() == ["Ann:Bake", "Ann:Cook"]
    assert await reply(workflows, chat(text_message("user", "Hi"), model="Ann:Bake")) == "bake"


async def test_a_user_without_any_shared_workflow_names_their_folder_in_the_error(desk):
    workflows = desk.tree(settings=ONLY_SHARED)
    with pytest.raises(InvalidRequest, match="the folders you add to Workflows/_shared"):
        await reply(workflows)


async def test_incomplete_routing_of_a_user_is_an_error_that_names_the_missing_part(desk):
    workflows = desk.tree(files=TWO_SHARED, settings=ONLY_SHARED | {"routingConfig": "Mine"})
    with pytest.raises(SettingsError, match="routing 'Mine' was not found"):
        await reply(workflows)
