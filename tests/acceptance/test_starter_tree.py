"""`mnemoir init`, then `mnemoir serve`: every example answers, and shows what it is there to show."""

import json
from typing import Any

import openai
import pytest
import requests

from mnemoir.workflows.starter import users
from tests.cli.command_process import run
from tests.scripted_llm import Answer, ScriptedLLM
from tests.serving import ServerProcess
from tests.stages import staged
from tests.tree_kit import JsonService, eventually, newest_run, nodes_of, settle, write_json
from tests.workflows.nodes.pictures import image, png

WIKIPEDIA = {"/summaries": [{"title": "Tea", "text": "A plant of the mountains."}]}
CLOCK = {
    "/time/openapi.json": {
        "paths": {
            "/now": {
                "post": {
                    "operationId": "now",
                    "summary": "The time in a city",
                    "requestBody": {"content": {"application/json": {"schema": {"properties": {"city": {}}}}}},
                }
            }
        }
    },
    "/time/now": {"time": "09:15 in Graz"},
}


@pytest.fixture(scope="module")
def llm():
    with ScriptedLLM.in_thread() as scripted:
        yield scripted


@pytest.fixture(scope="module")
def wikipedia():
    with JsonService(WIKIPEDIA).running() as service:
        yield service


@pytest.fixture(scope="module")
def mcpo():
    with JsonService(CLOCK).running() as service:
        yield service


@pytest.fixture(scope="module")
def tree(llm, wikipedia, mcpo, tmp_path_factory):
    """The starter tree as written, with the addresses of the two services of this test."""
    folder = tmp_path_factory.mktemp("starter")
    arguments = ["--endpoint-url", llm.url, "--api-type", "Open-AI-API", "--model", "far-model"]
    assert run("init", "mine", *arguments, cwd=folder).returncode == 0
    for name, changed in {
        "offline-wikipedia": {"offlineWikiApiPort": wikipedia.port},
        "mcpo-tools": {"MCPO_URL": mcpo.url},
    }.items():
        file = folder / "mine" / "Configs" / "Users" / f"{name}.json"
        write_json(file, json.loads(file.read_text("utf-8")) | changed)
    return folder / "mine"


@pytest.fixture(scope="module")
def server(tree):
    """One process that serves every user of the tree."""
    chosen = [argument for name in users() for argument in ("--user", name)]
    with ServerProcess(tree.parent / "data", arguments=["--config-dir", str(tree), *chosen]) as process:
        yield process


@pytest.fixture(autouse=True)
def _fresh(server, llm):
    settle(server)
    llm.clear()


def chat(server, name, content="Hello", *, before=(), stream=False, **more):
    """The answer's text; the model says `Understood.` unless told otherwise."""
    messages = [*before, {"role": "user", "content": content}]
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as client:
        if not stream:
            answer = client.chat.completions.create(model=name, messages=messages, **more)
            return answer.choices[0].message.content
        chunks = client.chat.completions.create(model=name, messages=messages, stream=True, **more)
        return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


def test_every_example_is_listed_as_a_model(server):
    listed = requests.get(f"{server.url}/v1/models", timeout=60).json()["data"]
    assert [model["id"] for model in listed] == users()


@pytest.mark.parametrize("name", users())
def test_every_example_answers_whole_and_streamed(server, llm, name):
    for stream in (False, True):
        assert chat(server, name, stream=stream) == "Understood."
        assert newest_run(server)["status"] == "finished"


def times_asked_with(llm, holds):
    """How many requests to models hold something."""
    return sum(holds(asked.body) for asked in llm.requests)


@pytest.mark.parametrize("name", staged(users(), quick=3))
def test_every_answering_node_passes_tools_on_and_no_other_node_does(server, llm, name):
    tool = {"type": "function", "function": {"name": "look_up", "parameters": {"type": "object", "properties": {}}}}
    assert chat(server, name, tools=[tool]) == "Understood."
    assert newest_run(server)["status"] == "finished"
    assert times_asked_with(llm, lambda body: body.get("tools") == [tool]) == 1
    assert times_asked_with(llm, lambda body: "tools" in body) == 1


@pytest.mark.parametrize("name", staged(users(), quick=3))
def test_every_answering_node_passes_the_wanted_shape_on_and_no_other_node_does(server, llm, name):
    schema = {"name": "answer", "schema": {"type": "object", "properties": {}}}
    assert chat(server, name, response_format={"type": "json_schema", "json_schema": schema}) == "Understood."
    assert newest_run(server)["status"] == "finished"
    assert times_asked_with(llm, lambda body: "response_format" in body) == 1


@pytest.mark.parametrize("name", staged(users(), quick=3))
def test_pictures_reach_one_model_only(server, llm, name):
    """The answering one; where that one cannot see, the one that describes them."""
    picture = image(png()).url
    content = [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": picture}}]
    assert chat(server, name, content) == "Understood."
    assert newest_run(server)["status"] == "finished"
    assert times_asked_with(llm, lambda body: picture in json.dumps(body)) == 1


@pytest.mark.parametrize("name", staged(users(), quick=3))
def test_every_example_recalls_and_remembers_where_memory_is_on(server, llm, name):
    said = {"role": "user", "content": "I am allergic to walnuts."}
    body = {"user_id": name, "messages": [said], "infer": False}
    assert requests.post(f"{server.url}/api/memories", json=body, timeout=60).status_code == 200
    extra = {"extra_body": {"memoryEnabled": True, "user": name}}
    assert chat(server, name, "Am I allergic to walnuts?", **extra) == "Understood."
    nodes = nodes_of(newest_run(server))
    recalled = nodes["Recall relevant memories"]["memories"]
    assert [memory["text"] for memory in recalled] == [said["content"]]
    assert [written["kind"] for written in nodes["Remember the turn"]["written"]] == ["turn"]


@pytest.mark.slow
def test_the_check_finds_nothing_to_say_about_the_tree(tree):
    done = run("check", "--config-dir", str(tree), cwd=tree.parent)
    assert (done.returncode, done.stderr) == (0, "")


def test_prompt_routing_shows_which_category_was_chosen(server, llm):
    llm.reply("It is about WRITING, I think.")
    llm.reply("Dear Sir")
    assert chat(server, "prompt-routing", "Draft a letter") == "Dear Sir"
    run = newest_run(server)
    assert run["category"] == "WRITING"
    assert [workflow["name"] for workflow in run["workflows"]] == ["Categorise", "Writing"]
    assert "- CODING: Programming" in llm.requests[0].body["messages"][1]["content"]


def test_what_cannot_be_sorted_is_answered_by_the_default(server, llm):
    llm.reply("No idea")
    llm.reply("Hello you")
    assert chat(server, "prompt-routing", stream=True) == "Hello you"
    assert [workflow["name"] for workflow in newest_run(server)["workflows"]] == ["Categorise", "_DefaultWorkflow"]


def test_several_models_join_two_drafts(server, llm):
    for text in ("draft A", "<think>hm</think>draft B", "Both."):
        llm.reply(text)
    assert chat(server, "several-models", stream=True) == "Both."
    joined = llm.requests[2].body["messages"][0]["content"]
    assert "<first_draft>\ndraft A\n</first_draft>" in joined
    assert "<second_draft>\ndraft B\n</second_draft>" in joined


def test_sub_workflows_hand_values_on_and_choose_the_next(server, llm):
    for text in ("Task", "- wants tea", "Done."):
        llm.reply(text)
    assert chat(server, "sub-workflows", "Brew tea") == "Done."
    system = llm.requests[2].body["messages"][0]["content"]
    assert "You carry out what people who are new to the subject ask for" in system
    assert nodes_of(newest_run(server))["Do the task"]["output"] == "Done."


def test_a_python_module_counts(server, llm):
    chat(server, "python-module", "It's late. Go home!")
    system = llm.requests[0].body["messages"][0]["content"]
    assert "this many words: 4. Sentences: 2." in system
    counted = json.loads(nodes_of(newest_run(server))["Count the words"]["output"])
    assert counted == {"words": 4, "sentences": 2, "minutes": 0.0}


def test_pictures_are_described_to_a_model_that_does_not_see(server, llm):
    llm.reply("A red kite.")
    llm.reply("It is a kite.")
    picture = image(png()).url
    content = [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": picture}}]
    assert chat(server, "image-captioning", content) == "It is a kite."
    seeing, answering = (asked.body["messages"] for asked in llm.requests)
    assert seeing[-1]["content"][-1]["image_url"]["url"] == picture
    assert "A red kite." in json.dumps(answering)
    assert picture not in json.dumps(answering)


def test_an_article_is_read_before_the_answer(server, llm, wikipedia):
    llm.reply("Tea")
    chat(server, "offline-wikipedia", "Where does tea grow?")
    assert wikipedia.asked[-1] == ("GET", "/summaries?prompt=Tea&percentile=0.5&num_results=2")
    assert "A plant of the mountains." in llm.requests[1].body["messages"][0]["content"]


def test_tools_are_found_and_called(server, llm, mcpo):
    llm.reply("time")
    llm.reply_json({"tool_calls": [{"name": "now", "parameters": {"city": "Graz"}}]})
    llm.reply("A quarter past nine.")
    assert chat(server, "mcpo-tools", "What time is it in Graz?", stream=True) == "A quarter past nine."
    assert mcpo.asked[-2:] == [("GET", "/time/openapi.json"), ("POST", "/time/now")]
    assert "09:15 in Graz" in llm.requests[2].body["messages"][0]["content"]


def test_memory_is_recalled_in_a_workflow_of_ones_own(server, llm):
    said = {"role": "user", "content": "I am allergic to walnuts."}
    body: dict[str, Any] = {"user_id": "mira", "messages": [said], "infer": False}
    assert requests.post(f"{server.url}/api/memories", json=body, timeout=60).status_code == 200
    extra = {"extra_body": {"memoryEnabled": True, "user": "mira"}}
    assert chat(server, "with-memory", "Am I allergic to walnuts?", stream=True, **extra) == "Understood."
    answering = next(asked for asked in llm.requests if "answers plainly" in asked.prompt)
    assert "I am allergic to walnuts." in answering.body["messages"][-1]["content"]
    recalled = nodes_of(newest_run(server))["Recall relevant memories"]["memories"]
    assert [memory["text"] for memory in recalled] == [said["content"]]


def long_talk(discussion):
    """Some 4000 tokens about a dog, in turns, of a discussion."""
    said = [f"Part {number}: Bruno, Lena's dog, saw a hare. " + "It was far away. " * 40 for number in range(16)]
    tag = f"You know dogs. [DiscussionId]{discussion}[/DiscussionId]"
    turns = [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(said)]
    return [{"role": "system", "content": tag}, *turns]


def test_a_long_conversation_is_summed_up_behind_the_answer_and_its_summary_read_in_the_next(server, llm, tree):
    llm.rule(lambda asked: "You write the notes of a long" in asked.prompt, "<think>hm</think>Bruno saw hares.")
    llm.rule(lambda asked: "You keep the summary of a long" in asked.prompt, "A story about hares.")
    before = long_talk("hares")
    assert chat(server, "discussion-summary", "And then?", before=before, stream=True) == "Understood."
    assert newest_run(server)["status"] == "finished"
    llm.clear()
    assert chat(server, "discussion-summary", "And at last?", before=before) == "Understood."
    system = llm.requests[0].body["messages"][0]["content"]
    assert "<summary>\nA story about hares.\n</summary>" in system
    assert "<parts>\nBruno saw hares.\n\nBruno saw hares.\n\nBruno saw hares.\n</parts>" in system
    assert system.endswith("You know dogs. ")
    assert list(tree.rglob("hares_summary.jsonl"))


def test_what_was_said_long_ago_is_found_before_the_answer(server, llm, tree):
    fact = {"title": "Dog", "summary": "Lena's retriever is Bruno.", "entities": ["Bruno"], "key_phrases": ["dog"]}
    llm.rule(lambda asked: "key_phrases" in asked.prompt, json.dumps([fact]))
    llm.rule(lambda asked: "You choose search words" in asked.prompt, "hound; retriever")
    before = long_talk("dogs")
    assert chat(server, "discussion-search", "Who is Lena?", before=before) == "Understood."
    assert newest_run(server)["status"] == "finished"
    llm.clear()
    assert chat(server, "discussion-search", "What has Lena?", before=before, stream=True) == "Understood."
    (answering,) = (asked for asked in llm.requests if "You see its last messages" in asked.prompt)
    assert "Lena's retriever is Bruno." in answering.body["messages"][0]["content"]
    assert list(tree.rglob("dogs_vector_memory.db"))


def test_the_answer_comes_before_the_slow_work_and_a_second_request_need_not_wait_for_it(server, llm):
    def writes_notes(asked):
        return "You keep short notes" in asked.prompt and "I like tea" in asked.prompt

    llm.rule(writes_notes, Answer(text="- likes tea", silent=True))
    assert chat(server, "workflow-lock", "I like tea") == "Understood."
    eventually(lambda: any(map(writes_notes, llm.requests)))
    assert chat(server, "workflow-lock", "Hello again", stream=True) == "Understood."
    (workflow,) = newest_run(server)["workflows"]
    assert [node["title"] for node in workflow["nodes"]][-1] == "One at a time from here"
    llm.release()
