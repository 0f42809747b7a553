"""A demonstration server with memories, conversations with branches, and runs; its model is scripted."""

import asyncio
import contextlib
import json
import sys
import tempfile
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import aiohttp

from tests.remembering_model import DECISION, is_extraction, users_words
from tests.scripted_llm import Answer, Asked, ScriptedLLM
from tests.serving import ServerProcess

TALK = json.loads((Path(__file__).parent / "demo.json").read_text("utf-8"))
USERS = ("with-memory", "sub-workflows", "several-models", "discussion-summary")


@contextlib.asynccontextmanager
async def demo_site() -> AsyncIterator[str]:
    """The URL of a running server with data."""
    async with ScriptedLLM() as llm:
        llm.rule(lambda asked: True, _reply)
        with tempfile.TemporaryDirectory(prefix="mnemoir-") as folder:
            tree = Path(folder) / "workflows"
            await _init(tree, llm.openai_url)
            users = [argument for user in USERS for argument in ("--user", user)]
            model = {
                "OPENAI_BASE_URL": llm.openai_url,
                "OPENAI_API_KEY": "sk-demo",
                "MNEMOIR_LLM__MODEL": "far-model",
            }
            arguments = ["--config-dir", str(tree), *users]
            server = ServerProcess(Path(folder) / "data", arguments=arguments, environment=model)
            await asyncio.to_thread(server.start)
            try:
                async with aiohttp.ClientSession(server.url) as http:
                    await _fill(http)
                yield server.url
            finally:
                await asyncio.to_thread(server.stop)


def _reply(asked: Asked) -> Answer:
    said = asked.prompt
    if DECISION in asked.prompt:
        return Answer(text='{"memory": []}')
    if is_extraction(asked):
        turn: dict[str, Any] = next((one for one in TALK["turns"] if one["said"] in users_words(asked)), {})
        return Answer(text=json.dumps({"facts": turn.get("learned", [])}))
    text = next((turn["reply"] for turn in TALK["turns"] if turn["said"][:40] in said.rpartition('"user"')[2]), None)
    return Answer(text=text or TALK["otherwise"])


async def _init(tree: Path, url: str) -> None:
    told = ["--endpoint-url", url.removesuffix("/v1"), "--model", "far-model", "--api-type", "Open-AI-API"]
    done = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "mnemoir", "init", str(tree), *told, stdout=DEVNULL
    )
    assert await done.wait() == 0


async def _fill(http: aiohttp.ClientSession) -> None:
    await _remember(http)
    for number, turn in enumerate(TALK["turns"]):
        await _say(http, turn, model=USERS[number % len(USERS)])


async def _remember(http: aiohttp.ClientSession) -> None:
    now = datetime.now(UTC)
    lines: list[dict[str, object]] = []
    for fact in TALK["facts"]:
        created = now - timedelta(days=fact["days_ago"], minutes=len(lines) * 7)
        lines.append(
            {"memory": fact["memory"], "user_id": TALK["user"], "created_at": created.isoformat(), "metadata": {}}
        )
    body = "\n".join(json.dumps(line) for line in lines)
    async with http.post("/api/import", data=body) as answer:
        answer.raise_for_status()


async def _say(http: aiohttp.ClientSession, turn: dict[str, Any], model: str) -> None:
    body = {
        "model": model,
        "user": TALK["user"],
        "conversation_id": turn["conversation"],
        "history": "server",
        "memoryEnabled": True,
        "stream": False,
        "messages": [{"role": "user", "content": turn["said"]}],
    }
    async with http.post("/v1/chat/completions", json=body) as answer:
        answer.raise_for_status()
        await answer.read()
