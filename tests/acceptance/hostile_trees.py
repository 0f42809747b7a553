"""A config tree in the hands of somebody who means harm, served by the real server over a real socket."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import aiohttp

from mnemoir.app.parts import Parts, open_parts
from mnemoir.server import ServerOptions, create_app
from mnemoir.settings import load_settings
from tests.meanwhile import delayed_s
from tests.scripted_llm import ScriptedLLM
from tests.server.server_kit import listening

JSON = dict[str, Any]
QUICK_S = 1.0  # within which somebody else is answered, whatever a workflow does
_TYPES = {
    "Chat": {"type": "openAIChatCompletion", "presetType": "Some"},
    "Text": {"type": "openAIV1Completion", "presetType": "Some"},
    "Ollama": {"type": "ollamaApiChat", "presetType": "Some"},
}


def tree(folder: Path, url: str, **user: Any) -> Path:
    """The public folder of a small tree with one user, whose workflow `Main` hands the conversation to a model."""
    public = folder / "Public"
    files: Mapping[str, object] = {
        "Users/ann.json": {"customWorkflowOverride": True, "customWorkflow": "Main", **user},
        **{f"ApiTypes/{name}.json": api_type for name, api_type in _TYPES.items()},
        "Endpoints/Main.json": {"endpoint": url, "apiTypeConfigFileName": "Chat", "modelNameToSendToAPI": "far"},
        "Endpoints/Text.json": {"endpoint": url, "apiTypeConfigFileName": "Text", "promptTemplate": "plain"},
        "PromptTemplates/plain.json": {"promptTemplateUserPrefix": "<U>"},
        "Workflows/ann/Main.json": [asking()],
        "Workflows/ann/Quick.json": [{"type": "StaticResponse", "content": "quick"}],
        "Workflows/_shared/quick/_DefaultWorkflow.json": [{"type": "StaticResponse", "content": "quick"}],
    }
    for name, content in files.items():
        write(public / "Configs" / name, content)
    return public


def write(path: Path, content: object) -> Path:
    """The content as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))
    return path


def asking(prompt: str = "", **more: Any) -> JSON:
    """A node that asks the model; without a prompt it sends the conversation."""
    return {"type": "Standard", "title": "ask", "endpointName": "Main", "preset": "", "prompt": prompt, **more}


@dataclass(frozen=True, kw_only=True)
class Hosted:
    """The tree while it is served; files written into it count from the next request on."""

    url: str
    public: Path
    parts: Parts
    llm: ScriptedLLM
    session: aiohttp.ClientSession

    def write(self, name: str, content: object) -> Path:
        """A file of the tree."""
        return write(self.public / "Configs" / name, content)

    def workflow(self, *nodes: JSON, name: str = "Main", **variables: Any) -> None:
        """The workflow of that name from now on."""
        self.write(f"Workflows/ann/{name}.json", {"nodes": nodes, **variables})

    async def ask(self, *said: object, model: str = "ann", **body: Any) -> tuple[int, str]:
        """Status, and the answer's text or the error's message. Each thing said is a user's turn."""
        messages = [{"role": "user", "content": content} for content in said or ("Hello",)]
        sent = {"model": model, "messages": messages, **body}
        data = BytesIO(json.dumps(sent).encode())  # which the client sends in pieces
        async with self.session.post(f"{self.url}/v1/chat/completions", data=data) as answer:
            told = await answer.json()
        if answer.status != 200:
            return answer.status, told["error"]["message"]
        return answer.status, told["choices"][0]["message"]["content"]

    async def run(self, *nodes: JSON, said: object = "Hello", **variables: Any) -> tuple[int, str]:
        """What a workflow of these nodes answers."""
        self.workflow(*nodes, **variables)
        return await self.ask(said)

    async def beside(self, *nodes: JSON, said: object = "Hello") -> tuple[tuple[int, str], float]:
        """The same, and the longest that anybody else had to wait for an answer meanwhile, in seconds.

        What other programs on this machine take is not counted.
        """
        loop = asyncio.get_running_loop()
        slow, longest = asyncio.create_task(self.run(*nodes, said=said)), 0.0
        while not slow.done():
            began, delayed = loop.time(), delayed_s()
            assert await self.ask(model="quick") == (200, "quick")
            longest = max(longest, loop.time() - began - max(0.0, delayed_s() - delayed))
        return slow.result(), longest

    def prompt(self) -> str:
        """The text of the last message of the last request at the model."""
        body = self.llm.requests[-1].body
        return str(body["messages"][-1]["content"] if "messages" in body else body["prompt"])


@contextlib.asynccontextmanager
async def hosted(folder: Path, *, user: JSON | None = None, **settings: Any) -> AsyncIterator[Hosted]:
    """The tree in that folder, served for its user; settings with `__` for the dot between their keys."""
    async with contextlib.AsyncExitStack() as opened:
        llm = await opened.enter_async_context(ScriptedLLM())
        public = tree(folder, llm.url, **(user or {}))
        given: JSON = {"storage.data_dir": str(folder / "data"), "llm.provider": "offline", "llm.tries": 1}
        given |= {"workflows.config_dir": str(public), "workflows.users": ["ann"]}
        given |= {name.replace("__", "."): value for name, value in settings.items()}
        loaded = load_settings(None, given, environ={})
        parts = await open_parts(loaded)
        opened.push_async_callback(parts.aclose)
        options = ServerOptions(max_body_bytes=loaded.server.max_body_mib * 1024 * 1024)
        app = create_app(parts, options)
        url = await opened.enter_async_context(listening(app, options))
        session = await opened.enter_async_context(aiohttp.ClientSession())
        yield Hosted(url=url, public=public, parts=parts, llm=llm, session=session)
