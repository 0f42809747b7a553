"""Apps against a served config tree: official packages, SillyTavern, Open WebUI and VS Code as they ask.

One user, whose messages are sorted first: what has `code` in it is answered by a workflow within a workflow, all else
by a workflow of one node for the client and one behind it.
"""

import json
from http.client import HTTPConnection

import ollama
import openai
import pytest
import requests

from tests.scripted_llm import Answer, ScriptedLLM, failure
from tests.server.server_kit import CUT_S
from tests.serving import ServerProcess
from tests.tree_kit import (
    answers,
    asked_by,
    asked_titles,
    asks,
    newest_run,
    nodes_of,
    run_of,
    settle,
    user,
    write_tree,
)
from tests.workflows.nodes.pictures import image, png

PICTURE = image(png()).url
BASE64 = PICTURE.partition(",")[2]
TOOL = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}
SAMPLERS = {
    "temperature": 0.7,
    "top_p": 0.9,
    "top_k": 40,
    "typical_p": 1,
    "min_p": 0.05,
    "tfs": 1,
    "mirostat_mode": 0,
    "rep_pen": 1.1,
    "repetition_penalty": 1.1,
    "rep_pen_range": 1024,
    "presence_penalty": 0,
    "seed": -1,
    "max_tokens": 350,
    "max_new_tokens": 350,
    "n_predict": 350,
    "truncation_length": 8192,
    "ban_eos_token": False,
    "stop": ["\nUser:"],
    "stopping_strings": ["\nUser:"],
    "skip_special_tokens": True,
    "grammar": "",
    "n": 1,
    "sampler_order": [6, 0, 1],
    "dry_multiplier": 0,
    "xtc_probability": 0,
    "logit_bias": [],
    "logprobs": None,
}
MARKED = "[Beg_Sys]You are Ada.\n[Beg_User]Hi\n[Beg_Assistant]Hello.\n[Beg_User]How are you?\n[Beg_Assistant]"
FILES = {
    "Users/mira.json": user(
        customWorkflowOverride=False,
        routingConfig="Topics",
        categorizationWorkflow="Sort",
        chatCompletionAddMissingAssistantGenerator=True,
    ),
    "Routing/Topics.json": {
        "CODE": {"description": "Programs", "workflow": "Code"},
        "TALK": {"description": "Anything else", "workflow": "Talk"},
    },
    "Workflows/Mira/Sort.json": [asks("Sorting", "{chat_user_prompt_last_one}")],
    "Workflows/Mira/Talk.json": [
        answers("Talking", allowTools=True, acceptImages=True, lastMessagesToSendInsteadOfPrompt=20),
        asks("Afterwards", "{agent1Output}"),
    ],
    "Workflows/Mira/Code.json": [
        asks("Planning", "{chat_user_prompt_last_one}"),
        {
            "title": "By another workflow",
            "type": "CustomWorkflow",
            "workflowName": "Write-Code",
            "scoped_variables": ["{agent1Output}"],
            "returnToUser": True,
        },
    ],
    "Workflows/Mira/Write-Code.json": [answers("Coding", "Plan: {agent1Input}")],
}


@pytest.fixture(scope="module")
def llm():
    with ScriptedLLM.in_thread() as scripted:
        scripted.rule(asked_by("Sorting"), lambda asked: "CODE" if "code" in asked.prompt else "TALK")
        scripted.rule(asked_by("Planning"), "First think.")
        scripted.rule(asked_by("Afterwards"), "Noted.")
        yield scripted


@pytest.fixture(scope="module")
def server(llm, tmp_path_factory):
    folder = tmp_path_factory.mktemp("clients")
    tree = write_tree(folder / "Public", llm.url, FILES)
    with ServerProcess(folder / "data", arguments=["--config-dir", str(tree), "--user", "Mira"]) as process:
        yield process


@pytest.fixture(autouse=True)
def _fresh(server, llm):
    settle(server)
    llm.clear()


@pytest.fixture
def openai_client(server):
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as client:
        yield client


@pytest.fixture
def ollama_client(server):
    with ollama.Client(host=server.url) as client:
        yield client


def said(content):
    return [{"role": "user", "content": content}]


def post(server, path, body, **options):
    return requests.post(f"{server.url}{path}", json=body, timeout=30, **options)


def lines_of(answer):
    """The JSON objects of an Ollama stream."""
    return [json.loads(line) for line in answer.iter_lines() if line]


def conversation(llm, title):
    """What a node's request to the model held behind its system prompt, as role and content."""
    body = next(asked.body for asked in llm.requests if asked_by(title)(asked))
    return [(message["role"], message["content"]) for message in body["messages"][1:]]


# --- the official packages


@pytest.mark.parametrize(("message", "title"), [("Hi", "Talking"), ("Write code", "Coding")])
def test_openai_chats_whole_and_streamed(server, llm, openai_client, message, title):
    llm.reply("Good morning.")
    whole = openai_client.chat.completions.create(model="Mira", messages=said(message))
    llm.reply("Good morning.")
    chunks = list(openai_client.chat.completions.create(model="Mira", messages=said(message), stream=True))
    assert (whole.model, whole.choices[0].message.content) == ("Mira", "Good morning.")
    assert (whole.choices[0].finish_reason, chunks[-1].choices[0].finish_reason) == ("stop", "stop")
    assert [chunk.choices[0].delta.content for chunk in chunks if chunk.choices[0].delta.content] == [
        "Good ",
        "morning.",
    ]
    assert asked_titles(llm).count(title) == 2


@pytest.mark.parametrize(("message", "title"), [("Hi", "Talking"), ("Write code", "Coding")])
def test_openai_completes_text_whole_and_streamed(server, llm, openai_client, message, title):
    llm.reply("Good morning.")
    whole = openai_client.completions.create(model="Mira", prompt=message)
    llm.reply("Good morning.")
    chunks = list(openai_client.completions.create(model="Mira", prompt=message, stream=True))
    assert whole.choices[0].text == "".join(chunk.choices[0].text for chunk in chunks) == "Good morning."
    assert asked_titles(llm).count(title) == 2


@pytest.mark.parametrize("stream", [False, True])
def test_openai_gets_the_tool_calls_of_a_node_that_passes_tools_on(llm, openai_client, stream):
    llm.reply(tool_calls=[("weather", {"city": "Graz"})])
    got = openai_client.chat.completions.create(model="Mira", messages=said("Rain?"), tools=[TOOL], stream=stream)
    if stream:
        chunks = list(got)
        calls = [call for chunk in chunks for call in chunk.choices[0].delta.tool_calls or ()]
        reason = chunks[-1].choices[0].finish_reason
    else:
        calls, reason = got.choices[0].message.tool_calls, got.choices[0].finish_reason
    assert "".join(call.function.name or "" for call in calls) == "weather"
    assert json.loads("".join(call.function.arguments or "" for call in calls)) == {"city": "Graz"}
    assert reason == "tool_calls"
    assert ["tools" in asked.body for asked in llm.requests if asked_by("Talking")(asked)] == [True]


def test_a_tool_s_result_goes_back_to_the_model(llm, openai_client):
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    asked = {"role": "assistant", "content": None, "tool_calls": [call]}
    told = [*said("Rain?"), asked, {"role": "tool", "tool_call_id": "c1", "content": "Sunny"}]
    openai_client.chat.completions.create(model="Mira", messages=told, tools=[TOOL])
    assert conversation(llm, "Talking")[-1] == ("tool", "Sunny")


def test_pictures_reach_a_node_that_takes_them_and_no_other(llm, openai_client):
    content = [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": PICTURE}}]
    openai_client.chat.completions.create(model="Mira", messages=said(content))
    ((_, shown),) = conversation(llm, "Talking")
    assert [part["type"] for part in shown] == ["text", "image_url"]
    assert conversation(llm, "Sorting") == [("user", "What is it?")]


@pytest.mark.parametrize(
    ("status", "error"),
    [(401, openai.AuthenticationError), (404, openai.NotFoundError), (400, openai.BadRequestError)],
)
def test_openai_raises_its_own_errors_for_a_model_that_fails(llm, openai_client, status, error):
    llm.queue(failure(status, "said the far side"))
    with pytest.raises(error, match="said the far side"):
        openai_client.chat.completions.create(model="Mira", messages=said("Hi"))
    llm.queue(failure(status, "said the far side"))
    with pytest.raises(error, match="said the far side"):
        list(openai_client.chat.completions.create(model="Mira", messages=said("Hi"), stream=True))


def test_openai_is_told_within_the_stream_that_it_broke_off(llm, openai_client):
    llm.reply("One two three", cut_after=1)
    with pytest.raises(openai.APIError):
        list(openai_client.chat.completions.create(model="Mira", messages=said("Hi"), stream=True))


@pytest.mark.parametrize(("message", "title"), [("Hi", "Talking"), ("Write code", "Coding")])
def test_ollama_chats_and_generates_whole_and_streamed(llm, ollama_client, message, title):
    for _ in range(4):
        llm.reply("Good morning.")
    whole = ollama_client.chat("Mira", said(message))
    pieces = list(ollama_client.chat("Mira:latest", said(message), stream=True))
    assert whole.message.content == "".join(piece.message.content for piece in pieces) == "Good morning."
    assert (whole.done_reason, pieces[-1].done_reason) == ("stop", "stop")
    whole = ollama_client.generate("Mira", message)
    pieces = list(ollama_client.generate("Mira", message, stream=True))
    assert whole.response == "".join(piece.response for piece in pieces) == "Good morning."
    assert asked_titles(llm).count(title) == 4


def test_ollama_gets_tool_calls_and_sends_pictures(llm, ollama_client):
    llm.reply(tool_calls=[("weather", {"city": "Graz"})])
    message = ollama.Message(role="user", content="Rain here?", images=[ollama.Image(value=BASE64)])
    (call,) = ollama_client.chat("Mira", [message], tools=[TOOL]).message.tool_calls
    assert (call.function.name, call.function.arguments) == ("weather", {"city": "Graz"})
    assert conversation(llm, "Talking")[0][1][1]["image_url"]["url"] == PICTURE


def test_ollama_raises_for_a_model_that_fails(llm, ollama_client):
    llm.queue(failure(400, "said the far side"))
    with pytest.raises(ollama.ResponseError, match="said the far side"):
        ollama_client.chat("Mira", said("Hi"))


def test_ollama_looks_around(ollama_client):
    assert [model.model for model in ollama_client.list().models] == ["Mira:latest"]
    assert [model.name for model in ollama_client.ps().models] == ["Mira"]
    assert ollama_client.show("Mira").modelinfo["general.basename"] == "Mira"
    with pytest.raises(ollama.ResponseError, match="not found"):
        ollama_client.show("nobody")


# --- SillyTavern


@pytest.mark.parametrize("stream", [False, True])
def test_a_marked_text_completion_with_every_sampler_becomes_turns(server, llm, stream):
    body = {"model": "", "prompt": MARKED, "stream": stream, "api_server": "http://x", "api_type": "ooba", **SAMPLERS}
    llm.reply("Fine.")
    answer = post(server, "/v1/completions", body)
    assert answer.status_code == 200
    assert "Fine." in answer.text
    assert conversation(llm, "Talking") == [("user", "Hi"), ("assistant", "Hello."), ("user", "How are you?")]
    (body,) = [asked.body for asked in llm.requests if asked_by("Talking")(asked)]
    assert (body["temperature"], "stop" in body, "mirostat_mode" in body) == (0.2, False, False)


@pytest.mark.parametrize("stream", [False, True])
def test_a_raw_generate_with_markers_becomes_turns(server, llm, stream):
    options = {"temperature": 0.7, "num_predict": 350, "num_ctx": 8192, "stop": ["\nUser:"]}
    body = {"model": "Mira", "prompt": MARKED, "raw": True, "stream": stream, "keep_alive": -1, "options": options}
    llm.reply("Fine.")
    found = lines_of(post(server, "/api/generate", body))
    assert ("".join(line["response"] for line in found), found[-1]["done"]) == ("Fine.", True)
    assert conversation(llm, "Talking") == [("user", "Hi"), ("assistant", "Hello."), ("user", "How are you?")]


def test_a_chat_completion_as_sillytavern_sends_it_is_answered(server, llm):
    messages = [
        {"role": "system", "content": "You are Ada."},
        {"role": "assistant", "content": "Hello."},
        *said("Hi"),
    ]
    body = {"messages": messages, "model": "anything", "stream": True, "chat_completion_source": "custom", **SAMPLERS}
    body |= {"logit_bias": {}, "user_name": "Mira", "char_name": "Ada", "group_names": [], "include_reasoning": True}
    answer = post(server, "/chat/completions", body)
    assert answer.text.endswith("data: [DONE]\n\n")
    assert conversation(llm, "Talking") == [("assistant", "Hello."), ("user", "Hi")]


@pytest.mark.parametrize("prompt", ["Describe this picture.", "[Beg_User]Describe this picture."])
def test_a_picture_to_be_captioned_comes_with_an_unmarked_prompt(server, llm, prompt):
    llm.reply("A kite.")
    body = {"model": "Mira", "prompt": prompt, "images": [BASE64], "stream": False}
    assert post(server, "/api/generate", body).json()["response"] == "A kite."
    ((role, (text, shown)),) = conversation(llm, "Talking")
    assert (role, text["text"], shown["image_url"]["url"]) == ("user", "Describe this picture.", PICTURE)


@pytest.mark.real_time
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/completions", {"prompt": MARKED}),
        ("/v1/chat/completions", {"messages": said("Hi")}),
        ("/api/generate", {"model": "Mira", "prompt": MARKED, "raw": True}),
        ("/api/chat", {"model": "Mira", "messages": said("Hi")}),
    ],
)
def test_a_client_that_closes_the_stream_ends_the_model_s_call_and_all_that_would_follow(server, llm, path, body):
    llm.reply("One two three", stall_after=1)
    with post(server, path, {**body, "stream": True}, stream=True) as answer:
        next(answer.iter_content(chunk_size=None))
    assert llm.wait_disconnected(CUT_S)
    run = run_of(server, answer.headers["x-workflow-run-id"])
    assert run["status"] == "cancelled"
    assert asked_titles(llm) == ["Sorting", "Talking"]


@pytest.mark.real_time
def test_a_client_that_waits_for_a_whole_answer_may_leave_too(server, llm):
    llm.queue(Answer(text="Never", silent=True))
    waiting = HTTPConnection("127.0.0.1", server.port)
    waiting.request("POST", "/v1/completions", json.dumps({"prompt": MARKED}))
    assert llm.wait_request()
    waiting.close()
    assert llm.wait_disconnected(CUT_S)
    assert newest_run(server)["status"] == "cancelled"


def test_a_client_that_leaves_a_finished_stream_takes_nothing_with_it(server, llm):
    with post(server, "/v1/chat/completions", {"messages": said("Hi"), "stream": True}, stream=True) as answer:
        for piece in answer.iter_content(chunk_size=None):
            if b"[DONE]" in piece:
                break
    assert nodes_of(run_of(server, answer.headers["x-workflow-run-id"]))["Afterwards"]["output"] == "Noted."


# --- Open WebUI and VS Code


def test_open_webui_finds_one_model_and_a_version(server):
    models = requests.get(f"{server.url}/v1/models", timeout=60).json()["data"]
    tags = requests.get(f"{server.url}/api/tags", timeout=60).json()["models"]
    running = requests.get(f"{server.url}/api/ps", timeout=60).json()["models"]
    assert [model["id"] for model in models] == [tag["name"] for tag in tags] == [one["name"] for one in running]
    assert [tag["model"] for tag in tags] == ["Mira:latest"]
    assert requests.get(f"{server.url}/api/version", timeout=60).json() == {"version": "0.9"}


def test_a_task_of_open_webui_runs_the_workflow_as_any_message_does(server, llm):
    llm.reply('{"title": "Tea"}')
    task = "### Task:\nGenerate a concise title.\n### Chat History:\n<chat_history>\nUSER: Tea\n</chat_history>"
    body = {"model": "Mira:latest", "messages": said(task), "stream": False, "metadata": {"task": "title_generation"}}
    assert post(server, "/api/chat", body).json()["message"]["content"] == '{"title": "Tea"}'
    assert asked_titles(llm)[:2] == ["Sorting", "Talking"]


def test_vs_code_is_told_the_context_and_that_tools_can_be_used(server):
    major, minor = map(int, requests.get(f"{server.url}/api/version", timeout=60).json()["version"].split("."))
    assert (major, minor) >= (0, 7)
    (tag,) = requests.get(f"{server.url}/api/tags", timeout=60).json()["models"]
    shown = post(server, "/api/show", {"model": tag["model"]}).json()
    info = shown["model_info"]
    assert info[f"{info['general.architecture']}.context_length"] > 8192
    assert info["general.basename"] == "Mira"
    assert "tools" in shown["capabilities"]


@pytest.mark.parametrize(
    ("path", "asked"), [("/api/chat", {"messages": said("Hi")}), ("/api/generate", {"prompt": "Hi"})]
)
def test_a_stream_ends_when_another_request_asks_for_it(server, llm, path, asked):
    llm.reply("One two three", stall_after=1)
    with post(server, path, {"model": "Mira", **asked}, stream=True) as answer:
        lines = answer.iter_lines()
        first = json.loads(next(lines))
        ended = requests.delete(f"{server.url}{path}", json={"request_id": first["request_id"]}, timeout=60)
        last = json.loads([line for line in lines if line][-1])
    assert ended.json() == {"status": "cancelled", "request_id": first["request_id"]}
    assert (list(last), llm.wait_disconnected()) == (["error"], True)
    assert run_of(server, answer.headers["x-workflow-run-id"])["status"] == "cancelled"
    again = requests.delete(f"{server.url}{path}", json={"request_id": first["request_id"]}, timeout=60)
    assert again.status_code == 404


@pytest.mark.parametrize("path", ["/api/chat", "/api/generate"])
@pytest.mark.parametrize(("sent", "status"), [(b"{}", 400), (b"[]", 400), (b'{"request_id": 1}', 400), (b"{", 400)])
def test_an_end_asked_for_without_an_id_is_refused(server, path, sent, status):
    answer = requests.delete(f"{server.url}{path}", data=sent, timeout=60)
    assert (answer.status_code, "error" in answer.json()) == (status, True)
