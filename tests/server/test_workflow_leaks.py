"""Whatever endpoints, workflows and clients do: a clear word or a right answer, nothing left over, and the server
lives on. Tasks, descriptors and threads are counted before and after.
"""

import asyncio
import threading

import aiohttp
import orjson
import psutil
import pytest
from yarl import URL

from tests.scripted_llm import Answer, ScriptedLLM, closed_port_url, html_page
from tests.server.served_tree import answering, behind, calling, endpoint, served
from tests.server.server_kit import hello
from tests.server.test_upstream_failures import sent_text

CHAT = "/v1/chat/completions"
STREAMS = 200


@pytest.fixture
def llm():
    """The far model, on a loop of its own."""
    with ScriptedLLM.in_thread() as threaded:
        yield threaded


@pytest.fixture
def shared(tmp_path, llm):
    """Settings of a tree with a folder of shared workflows for each kind of trouble, and one that is well."""
    workflows = {
        "fine": [answering(lastMessagesToSendInsteadOfPrompt=20_000), behind()],
        "dead": [answering("Dead")],
        "slow": [answering("Slow", timeoutSeconds=0.2)],
        "garbage": [answering("Garbage")],
        "missing": [calling("Nowhere", returnToUser=True)],
        "recursion": [calling("_DefaultWorkflow", workflowUserFolderOverride="_shared/recursion", returnToUser=True)],
    }
    files: dict[str, object] = {
        f"Workflows/_shared/{name}/_DefaultWorkflow.json": nodes for name, nodes in workflows.items()
    }
    files |= {
        "Endpoints/Dead.json": endpoint(closed_port_url()),
        "Endpoints/Slow.json": endpoint(llm.url, modelNameToSendToAPI="slow"),
        "Endpoints/Garbage.json": endpoint(llm.url, modelNameToSendToAPI="garbage"),
    }
    llm.rule(lambda asked: asked.body["model"] == "slow", Answer(silent=True))
    llm.rule(lambda asked: asked.body["model"] == "garbage", html_page())
    return served(tmp_path, llm.url, files=files, user={"allowSharedWorkflows": True}, maxContextTokenSize=1000)


def held(llm) -> list[int]:
    """Tasks of client and server, descriptors and threads of the process.

    Left out is what is kept for the next call: connections to the model, and the loop's own pool of threads.
    """
    process, port = psutil.Process(), URL(llm.url).port
    connections = process.net_connections("tcp4")
    kept = [one for one in connections if port in (one.laddr.port, one.raddr.port if one.raddr else 0)]
    threads = [thread for thread in threading.enumerate() if not thread.name.startswith("asyncio_")]
    return [len(asyncio.all_tasks()), process.num_fds() - len(kept), len(threads)]


async def settled(llm) -> list[int]:
    """What is held once it has been the same for a while."""
    same, found = 0, held(llm)
    while same < 10:
        await asyncio.sleep(0.02)
        before, found = found, held(llm)
        same = same + 1 if found == before else 0
    return found


def chat(folder: str, stream: bool, *messages: dict) -> dict:
    return hello(stream=stream, model=f"Ann:{folder}") | ({"messages": list(messages)} if messages else {})


async def troubles(server, http) -> None:
    """Each kind of trouble once, whole and streamed."""
    told = {
        "dead": (502, "llm_unavailable"),
        "slow": (500, "workflow_stopped"),
        "garbage": (502, "llm_invalid_output"),
        "missing": (500, "invalid_settings"),
        "recursion": (500, "workflow_stopped"),
    }
    for folder, expected in told.items():
        for stream in (True, False):
            async with http.post(server.url + CHAT, json=chat(folder, stream)) as answer:
                body = await answer.json()
                assert (answer.status, body["code"]) == expected
                assert "Traceback" not in body["detail"]


async def long_history(server, http, llm) -> None:
    """Ten thousand messages: the newest that fit are sent."""
    turns = [{"role": "user" if n % 2 == 0 else "assistant", "content": f"turn {n}"} for n in range(9_999)]
    llm.requests.clear()
    async with http.post(server.url + CHAT, json=chat("fine", True, *turns)) as answer:
        assert sent_text(await answer.read()) == "Understood."
    sent = [message["content"] for message in llm.requests[0].body["messages"]]
    assert sent == [f"turn {n}" for n in range(9_999)][-len(sent) :]
    assert 20 < len(sent) < 200


async def crowd(server) -> None:
    """Two hundred streams at once; every tenth client leaves in the middle."""

    async def one(number: int) -> str | None:
        async with session.post(server.url + CHAT, json=chat("fine", True)) as answer:
            if number % 10 == 0:
                await answer.content.readany()
                return None
            return sent_text(await answer.read())

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        texts = await asyncio.gather(*(one(number) for number in range(STREAMS)))
    assert texts == [None if number % 10 == 0 else "Understood." for number in range(STREAMS)]


@pytest.mark.slow
async def test_after_every_kind_of_trouble_nothing_is_left_over_and_the_server_lives_on(listen, llm, http, shared):
    server = await listen(shared)
    async with asyncio.timeout(240):
        await crowd(server)  # what is kept for the next request is there now
        await troubles(server, http)
        for _ in range(4):  # on a busy machine a pool may first be needed whole in a later round
            idle = await settled(llm)
            await troubles(server, http)
            await long_history(server, http, llm)
            await crowd(server)
            if await settled(llm) == idle:
                break
        assert await settled(llm) == idle
        async with http.get(f"{server.url}/api/runs?status=running") as answer:
            assert (await answer.json())["results"] == []
        async with http.post(server.url + CHAT, json=chat("fine", False)) as answer:
            assert orjson.loads(await answer.read())["choices"][0]["message"]["content"] == "Understood."
