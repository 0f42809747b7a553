"""Python modules that go wrong in every way, and arguments that look like orders: both through the real server."""

import asyncio
import json
import os
from collections.abc import Callable
from urllib.parse import parse_qsl, urlsplit

import psutil
import pytest

from tests.acceptance.hostile_trees import QUICK_S, Hosted, hosted
from tests.stages import staged

WRONG = {
    "while True: pass": "did not return within 3 s",
    "import time; time.sleep(60)": "did not return within 3 s",
    "import os; os._exit(0)": "ended its process",
    "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)": "ended its process",
    "import sys; sys.exit(3)": "left its process",
    "bytearray(8 * 1024**3)": "needed more memory",
    "while True: print('x' * 2**20)": "printed more than",
    "return 'x' * 20 * 2**20": "returned more than",
    "import os\n    while True: os.write(2, b'x' * 65536)": "printed more than",
}
ODD = ["-rf", "--help", "@/etc/passwd", "file:///etc/passwd", "a\nb", "a b;c&d=e", "'\"`$(id)`", "%00", "\\", "../x"]
LAST = "{chat_user_prompt_last_one}"


@pytest.fixture(autouse=True)
def others() -> set[int]:
    """Processes that tests before this one have left to the interpreter, such as its tracker of semaphores."""
    return {child.pid for child in psutil.Process().children(recursive=True)}


def left(others: set[int]) -> list[psutil.Process]:
    """The processes that this test has begun and that are still there."""
    return [child for child in psutil.Process().children(recursive=True) if child.pid not in others]


@pytest.fixture
async def host(tmp_path):
    settings = {"workflows__module_timeout_s": 3, "workflows__file_directories": [str(tmp_path / "notes")]}
    async with hosted(tmp_path, user={"useOfflineWikiApi": True}, **settings) as served:
        (served.public / "modules").mkdir()
        yield served


def module(host: Hosted, body: str, path: str = "modules/made.py", **said: object) -> dict:
    """A node that calls a module whose Invoke has this body."""
    (host.public / path).write_text(f"def Invoke(*args, **kwargs):\n    {body}\n")
    return {"type": "PythonModule", "title": "called", "module_path": path, **said}


@pytest.mark.costly("it runs programs")
@pytest.mark.real_time
@pytest.mark.parametrize("body", staged(WRONG, quick=3), ids=range(len(WRONG)))
async def test_a_module_that_goes_wrong_fails_its_own_request_and_holds_up_nobody(host, others, body):
    (status, told), longest_s = await host.beside(module(host, body))
    assert (status, WRONG[body] in told) == (500, True), told
    assert longest_s < QUICK_S
    assert left(others) == []


async def test_a_module_knows_no_key_of_the_server_and_cannot_write_into_the_answer(host, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "canary-key")
    prints = "import json, os; print(json.dumps({'kind': 'value', 'value': 'forged'}), flush=True)"
    status, told = await host.run(module(host, f"{prints}; return dict(os.environ)"))
    assert (status, "canary-key" in told, "forged" in told) == (200, False, False)


async def test_a_module_is_not_what_a_person_or_a_model_writes(host, tmp_path):
    (tmp_path / "notes").mkdir()
    saved = [{"type": "SaveCustomFile", "filepath": LAST, "content": "def Invoke(): return 'canary'"}]
    called = {"type": "PythonModule", "module_path": LAST}
    names = ("evil.py", "modules/evil.py", "evil.PY", "evil", "evil.txt")
    for path in (*names, f"{tmp_path}/notes/evil.py", f"{tmp_path}/notes/evil"):
        await host.run(*saved, said=path)
        status, told = await host.run(called, said=path)
        assert (status, "canary" in told) == (500, False), path
    assert {path.name for path in tmp_path.rglob("evil*")} == {"evil", "evil.txt"}


@pytest.mark.parametrize("path", ["modules/open.py", "open/made.py"])
async def test_a_module_that_everybody_may_write_is_refused(host, path):
    (host.public / "open").mkdir()
    node = module(host, "return 1", path)
    place = host.public / path
    os.chmod(place if path.startswith("modules") else place.parent, 0o777)
    status, told = await host.run(node)
    assert (status, "everyone may write to" in told) == (500, True)


async def test_modules_are_off_where_the_settings_say_so(tmp_path):
    async with hosted(tmp_path, workflows__python_modules="off") as served:
        (served.public / "modules").mkdir()
        status, told = await served.run(module(served, "return 'canary'"))
    assert (status, "workflows.python_modules" in told) == (500, True)


async def test_what_is_said_is_an_argument_of_a_module_and_nothing_more(host):
    node = module(host, "import json; return json.dumps([args, kwargs])", args=[LAST, "-x"], kwargs={"a": LAST})
    for said in ODD:
        status, told = await host.run(node, said=said)
        assert (status, json.loads(told)) == (200, [[said, "-x"], {"a": said}])


class Wikipedia:
    """A service that notes what it is asked; with `endless` its answer has no end."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.endless = False
        self.sent = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.asked.append((await reader.readuntil(b"\r\n\r\n")).split(b" ")[1].decode())
        try:
            if not self.endless:
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\n" + b'{"text": "read"}')
                await writer.drain()
                return
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n[")
            while True:
                writer.write(b" " * 65536)
                self.sent += 65536
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()


@pytest.fixture
async def wikipedia(host):
    service = Wikipedia()
    server = await asyncio.start_server(service.answer, "127.0.0.1", 0)
    user = {"customWorkflowOverride": True, "customWorkflow": "Main", "useOfflineWikiApi": True}
    host.write("Users/ann.json", {**user, "offlineWikiApiPort": server.sockets[0].getsockname()[1]})
    async with server:
        yield service


async def test_what_is_said_is_one_value_in_the_question_to_the_wikipedia(host, wikipedia):
    for said in [*ODD, "&prompt=b&num_results=99", "?#", "http://127.0.0.1:1/", "\r\nHost: elsewhere"]:
        node = {"type": "OfflineWikiApiFullArticle", "promptToSearch": LAST}
        assert await host.run(node, said=said) == (200, "read")
        asked = dict(parse_qsl(urlsplit(wikipedia.asked[-1]).query, keep_blank_values=True))
        assert asked == {"prompt": said, "percentile": "0.5", "num_results": "1"}


@pytest.mark.real_time
async def test_an_endless_answer_of_the_wikipedia_is_cut_and_the_workflow_goes_on(host, wikipedia):
    wikipedia.endless = True
    node = {"type": "OfflineWikiApiFullArticle", "promptToSearch": "tea"}
    (status, told), longest_s = await host.beside(node)
    assert (status, "tea" in told, longest_s < QUICK_S) == (200, True, True)
    assert wikipedia.sent < 64 * 1024 * 1024


async def test_what_is_said_is_the_name_of_a_file_below_the_public_folder_or_none(host, tmp_path):
    before = {path.name for path in tmp_path.iterdir()}
    save = {"type": "SaveCustomFile", "filepath": LAST, "content": "kept"}
    read = {"type": "GetCustomFile", "filepath": LAST}
    told = {said: [await host.run(node, said=said) for node in (save, read)] for said in [*ODD, "a/../../b", "~/x"]}
    refused = {said for said, (saved, _) in told.items() if saved[0] == 500}
    assert refused == {"file:///etc/passwd", "a\nb", "\\", "../x", "a/../../b", "~/x"}
    assert {told[said][1] for said in refused} == {(200, "Custom instruction file did not exist")}
    assert {answers[1][1] for said, answers in told.items() if said not in refused} == {"kept"}
    assert {path.name for path in tmp_path.iterdir()} == before


async def until(happened: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not happened():
            await asyncio.to_thread(lambda: None)  # nothing tells, and the server needs its turns


@pytest.mark.costly("it runs programs")
async def test_a_module_whose_client_leaves_is_ended(host, others):
    host.workflow(module(host, "import pathlib, time; pathlib.Path('begun').touch(); time.sleep(60)"))
    asked = asyncio.create_task(host.ask())
    await until((host.public.parent / "begun").exists)
    asked.cancel()
    await until(lambda: not left(others))
