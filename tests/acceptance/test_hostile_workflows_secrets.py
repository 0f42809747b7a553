"""Keys of a config tree come out nowhere, what people say comes into no log, and no stranger is called."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.acceptance.hostile_trees import JSON, asking, tree, write
from tests.acceptance.test_private import RECORDER
from tests.cli.command_process import run_here
from tests.scripted_llm import Answer, Asked, ScriptedLLM
from tests.serving import ServerProcess
from tests.stages import staged

KEY = "sk-canary-key-3141592653"
PASSWORD = "canary-word-2718281828"
TOKEN = "canary-token-1618033988"
# how they begin, and how a user and a password of these begin in a header: a message may be cut within one
SECRETS = ("sk-canary", "canary-word", "canary-token", "Y2FuYXJ5")
SAID = "quince marmalade of aunt Mirabel"


def told(asked: Asked) -> Answer:
    """A server that tells everything it was sent, in a different way on each path and for each word asked."""
    everything = json.dumps({"headers": dict(asked.headers), "body": asked.body})
    heads = {"Content-Type": "application/json"}
    for word, answer in {
        "object": Answer(status=400, body=everything.encode(), headers=heads),
        "message": Answer(status=401, body=json.dumps({"error": {"message": everything}}).encode(), headers=heads),
        "text": Answer(status=500, body=everything.encode(), headers={"Content-Type": "text/plain"}),
        "cut": Answer(
            status=500, body=(f"{'x' * 180}{_credential(asked)}").encode(), headers={"Content-Type": "a/b"}
        ),
        "rubbish": Answer(body=f"{'x' * 100}{_credential(asked)}".encode(), headers=heads),
        "event": Answer(
            body=f"data: {json.dumps({'error': {'message': everything}})}\n\n".encode(),
            headers={"Content-Type": "text/event-stream"},
        ),
    }.items():
        if f"fail by {word}" in asked.prompt:
            return answer
    return Answer(text="Understood.")


def _credential(asked: Asked) -> str:
    return asked.headers.get("Authorization", "").partition(" ")[2]


def secret_tree(folder: Path, url: str) -> Path:
    """Endpoints with a key, with a password and with a token in the URL, and a node for each."""
    public = tree(folder, url, useOfflineWikiApi=True, offlineWikiApiPort=9)
    place = url.removeprefix("http://")
    endpoints: dict[str, dict[str, object]] = {
        "Keyed": {"endpoint": url, "apiKey": KEY},
        "Worded": {"endpoint": f"http://canary:{PASSWORD}@{place}"},
        "Tokened": {"endpoint": f"http://{TOKEN}@{place}"},
        "Broken": {"endpoint": f"htp://canary:{PASSWORD}@{place}:x", "apiKey": KEY},
        "Odd": {"endpoint": url, "apiKey": [KEY], "maxConcurrentRequests": KEY},
        "Gone": {"endpoint": f"http://canary:{PASSWORD}@127.0.0.1:9", "apiKey": KEY},
        "Nowhere": {"endpoint": f"http://canary:{PASSWORD}@no-such-host.invalid", "apiKey": KEY},
    }
    for name, said in endpoints.items():
        write(public / "Configs" / "Endpoints" / f"{name}.json", {"apiTypeConfigFileName": "Chat", **said})
        shared = public / "Configs" / "Workflows" / "_shared" / name
        write(shared / "_DefaultWorkflow.json", [asking(endpointName=name)])
    (public / "Configs" / "Endpoints" / "Torn.json").write_text(f'{{"endpoint": "{url}", "apiKey": "{KEY}"')
    write(
        public / "Configs" / "Workflows" / "_shared" / "Torn" / "_DefaultWorkflow.json", [asking(endpointName="Torn")]
    )
    held = {"type": "WorkflowLock", "workflowLockId": "{agent1Input}"}
    write(public / "Configs" / "Workflows" / "ann" / "Held.json", [held, held])
    write(public / "Configs" / "Workflows" / "ann" / "Unfound.json", [asking(endpointName="{agent1Input}")])
    for number, node in enumerate(LOUD):
        write(public / "Configs" / "Workflows" / "_shared" / f"loud{number}" / "_DefaultWorkflow.json", [node])
    (public / "modules").mkdir()
    (public / "modules" / "failing.py").write_text(
        "def Invoke(said):\n    print(said); raise FileNotFoundError(said)"
    )
    (public / "modules" / "leaving.py").write_text("import sys\ndef Invoke(said):\n    sys.exit(said)")
    (public / "notes.txt").write_text("a file")
    return public


LAST = "{chat_user_prompt_last_one}"
LOUD: Sequence[JSON] = (  # what fails or is refused with a person's words in its message
    {"type": "PythonModule", "module_path": LAST},
    {"type": "PythonModule", "module_path": "modules/failing.py", "args": [LAST]},
    {"type": "PythonModule", "module_path": "modules/leaving.py", "args": [LAST]},
    {"type": "GetCustomFile", "filepath": f"/{LAST}"},
    {"type": "SaveCustomFile", "filepath": f"notes.txt/{LAST}", "content": "x"},
    {"type": "ConditionalCustomWorkflow", "conditionalKey": LAST, "conditionalWorkflows": {"a": "b"}},
    {"type": "CustomWorkflow", "workflowName": "Held", "scoped_variables": [LAST]},
    {"type": "CustomWorkflow", "workflowName": "Unfound", "scoped_variables": [LAST]},
    {"type": "ArithmeticProcessor", "expression": LAST},
    {"type": "Conditional", "condition": f"{LAST} {LAST}"},
    {"type": "StaticResponse", "content": "{{ chat_user_prompt_last_one.encode() }}", "jinja2": True},
    {"type": "StaticResponse", "content": "{{ [] | join(chat_user_prompt_last_one, 1, 2, 3) }}", "jinja2": True},
    {"type": "OfflineWikiApiFullArticle", "promptToSearch": LAST},
    asking(addDiscussionIdTimestampsForLLM=True),
)
ENDPOINTS = ("Keyed", "Worded", "Tokened", "Broken", "Odd", "Gone", "Nowhere", "Torn")
FAILURES = ("object", "message", "text", "cut", "rubbish", "event", "nothing")


def chat(server: ServerProcess, model: str, *said: str, stream: bool = False) -> requests.Response:
    messages = [{"role": "user", "content": text} for text in said]
    body: dict[str, Any] = {"model": model, "messages": messages, "stream": stream}
    return requests.post(f"{server.url}/v1/chat/completions", json=body, timeout=60)


def work(server: ServerProcess) -> Iterator[requests.Response]:
    """Every endpoint in every way, and what the server tells of it afterwards."""
    for name in ENDPOINTS:
        for how in FAILURES:
            yield chat(server, name, f"{SAID} fail by {how}")
            yield chat(server, name, f"{SAID} fail by {how}", stream=True)
    for number in range(len(LOUD)):
        yield chat(server, f"loud{number}", f"[DiscussionId]../{SAID}[/DiscussionId]{SAID}", SAID)
    listed = requests.get(f"{server.url}/api/runs?limit=200", timeout=60)
    yield listed
    for run_of in listed.json()["results"]:
        yield requests.get(f"{server.url}/api/runs/{run_of['id']}", timeout=60)
    for path in ("/health", "/ready", "/metrics", "/openapi.json", "/v1/models", "/api/tags", "/config"):
        yield requests.get(server.url + path, timeout=60)


def bytes_in(folder: Path) -> str:
    return "".join(file.read_bytes().decode("latin-1") for file in sorted(folder.rglob("*")) if file.is_file())


def serving(tmp_path: Path, public: Path, **environment: str) -> ServerProcess:
    arguments = ("--config-dir", str(public), "--user", "ann", "--json", "--logging-dir", str(tmp_path / "logs"))
    quick = {"MNEMOIR_LLM__TRIES": "1", "MNEMOIR_SERVER__METRICS": "true"}
    return ServerProcess(tmp_path / "data", arguments=arguments, environment={**quick, **environment})


@pytest.mark.costly("it asks for each key in each way")
@pytest.mark.parametrize("level", staged(["debug", "info"], quick=1))
def test_no_key_of_an_endpoint_comes_out_and_no_word_gets_into_the_log(tmp_path, capsys, level):
    with ScriptedLLM.in_thread() as llm:
        llm.rule(lambda asked: True, told)
        public = secret_tree(tmp_path, llm.url)
        with serving(tmp_path, public, MNEMOIR_LOG__LEVEL=level) as server:
            answers = list(work(server))
            looks = [("runs", *asked, "--url", server.url) for asked in looks_at(answers)]
            commands = [run_here(*look, cwd=tmp_path, capsys=capsys) for look in looks]
            server.stop()
        commands.append(run_here("check", "--config-dir", str(public), cwd=tmp_path, capsys=capsys))
    assert {asked.headers.get("Authorization", "none").split()[0] for asked in llm.requests} == {
        "Bearer",
        "Basic",
        "none",
    }
    places = {
        "answers": "".join(f"{answer.headers} {answer.text}" for answer in answers),
        "log": server.log.read_text() + bytes_in(tmp_path / "logs"),
        "data": bytes_in(server.data_dir),
        "commands": "".join(done.stdout + done.stderr for done in commands),
    }
    assert [(place, secret) for place, text in places.items() for secret in SECRETS if secret in text] == []
    assert [place for place in ("answers", "data", "commands") if SAID not in places[place]] == []
    assert SAID not in places["log"] or level == "debug"
    assert "[redacted]" in places["answers"]


def looks_at(answers: Sequence[requests.Response]) -> Iterator[Sequence[str]]:
    """What `mnemoir runs` is asked: for the list, and for one run as people and as programs read it."""
    yield ("list", "--limit", "200")
    asked_model = next(a for a in answers if a.headers.get("X-Workflow-Run-Id"))
    yield ("show", asked_model.headers["X-Workflow-Run-Id"])
    yield ("show", asked_model.headers["X-Workflow-Run-Id"], "--json")


# --- who is called


@pytest.mark.slow
def test_a_whole_session_calls_the_endpoints_of_the_tree_and_nobody_else(tmp_path):
    (tmp_path / "recorder").mkdir()
    (tmp_path / "recorder" / "sitecustomize.py").write_text(RECORDER)
    record = tmp_path / "calls.jsonl"
    with ScriptedLLM.in_thread() as llm:
        public = tree(tmp_path, llm.url, useOfflineWikiApi=True, offlineWikiApiHost="wiki.invalid")
        everything(public, llm.url)
        watched = {"PYTHONPATH": str(tmp_path / "recorder"), "SOCKET_RECORD": str(record)}
        with serving(tmp_path, public, **watched, OPENAI_API_KEY="sk-none", OPENAI_BASE_URL=llm.openai_url) as server:
            answers = [
                chat(server, model, "Hello", stream=stream) for model in ("ann", "far") for stream in (False, True)
            ]
            for path in ("/v1/models", "/api/tags", "/api/ps", "/docs", "/api/runs", "/metrics"):
                requests.get(server.url + path, timeout=60)
            server.stop()
    assert [answer.status_code for answer in answers] == [200, 200, 502, 502]
    calls = {json.loads(line)[1] for line in record.read_text().splitlines()}
    known = {f"('127.0.0.1', {port})" for port in (llm.url.rpartition(":")[2], server.port)}
    assert {
        call for call in calls if call not in known and not call.startswith(("('wiki.invalid'", "('far.invalid'"))
    } == set()


def everything(public: Path, url: str) -> None:
    """A workflow with a node of each kind that could call anybody, and one whose endpoint has no address."""
    picture = {
        "role": "user",
        "content": [{"type": "image_url", "image_url": {"url": "http://picture.invalid/a.png"}}],
    }
    nodes: Sequence[JSON] = [
        {"type": "OfflineWikiApiFullArticle", "promptToSearch": "http://search.invalid/ {chat_user_prompt_last_one}"},
        {"type": "SaveCustomFile", "filepath": "notes.txt", "content": json.dumps(picture)},
        {"type": "GetCustomFile", "filepath": "notes.txt"},
        {"type": "ImageProcessor", "endpointName": "Main", "prompt": "?"},
        {"type": "SlowButQualityRAG", "endpointName": "Main", "prompt": "[TextChunk]", "ragTarget": "one"},
        {"type": "WorkflowLock", "workflowLockId": "one"},
        asking(addDiscussionIdTimestampsForLLM=True),
    ]
    configs = public / "Configs"
    write(configs / "Workflows" / "ann" / "Main.json", nodes)
    write(configs / "Endpoints" / "Far.json", {"endpoint": "http://far.invalid", "apiTypeConfigFileName": "Chat"})
    write(configs / "Workflows" / "_shared" / "far" / "_DefaultWorkflow.json", [asking(endpointName="Far")])
