"""Chats with the whole program in this process, over a model that says what a test tells it to.

A file of tests opens what it needs with `opened_chats`; each test has a project of its own where it shares one.
"""

import itertools
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from mnemoir.app.parts import open_parts
from mnemoir.chats.recording import Recorded
from mnemoir.core.messages import ChatRequest, ModelRequest, text_message
from mnemoir.core.scope import Scope
from mnemoir.providers.http import AsgiAnswer
from mnemoir.server import ServerOptions, create_app
from mnemoir.settings import load_settings
from mnemoir.workflows.run import Caller
from tests.scripted_llm import Asked, ScriptedLLM
from tests.server.server_kit import JSON, Server, asks, succeeded

CHAT = "/v1/chat/completions"
QUICK = {"embedding.provider": "openai", "log.level": "error"}
_numbers = itertools.count()


@dataclass(frozen=True, kw_only=True)
class Chats(Server):
    """The program, its model, and a project nobody else uses."""

    llm: ScriptedLLM
    project: str

    def anew(self) -> "Chats":
        """The same program with another project."""
        return replace(self, project=f"project-{next(_numbers)}")

    async def ask(self, method: str, target: str, body: object = None, **headers: str) -> AsgiAnswer:
        return await super().ask(method, target, body, **{"x_etienne_project": self.project, **headers})

    async def chat(
        self, *messages: JSON | str, id: str | None = "tea", headers: Mapping[str, str] | None = None, **body: Any
    ) -> AsgiAnswer:
        """A chat as it is answered; texts are what a user and an assistant said in turn."""
        named = {} if id is None else {"x_session_id": id.encode().decode("latin-1")}
        sent = {"model": "any", "messages": told(*messages), **body}
        return await self.ask("POST", CHAT, sent, **named, **(headers or {}))

    async def thread(self, id: str = "tea", view: str = "thread", **query: str) -> list[JSON]:
        """The stored messages; none of a conversation that is not there."""
        more = "".join(f"&{name}={value}" for name, value in query.items())
        answer = await self.ask("GET", f"/api/conversations/{quote(id, safe='')}/messages?view={view}{more}")
        return [] if answer.status == 404 else succeeded(answer)["results"]

    async def lines(self, id: str = "tea", **query: str) -> list[tuple[str, Any]]:
        """Role and content of the stored messages."""
        return [(one["role"], one["content"]) for one in await self.thread(id, **query)]

    async def ids(self) -> list[str]:
        """Those of the default user's conversations."""
        return [one["id"] for one in (await self.get("/api/conversations"))["results"]]

    @property
    def shown(self) -> list[tuple[str, Any]]:
        """What the model was shown last."""
        asked = next(asked for asked in reversed(self.llm.requests) if "messages" in asked.body)
        return [(one["role"], one.get("content")) for one in asked.body["messages"]]

    @property
    def questions(self) -> list[str]:
        """What stood last in each chat that the model was asked to answer."""
        return [asked.body["messages"][-1]["content"] for asked in self.llm.requests if "messages" in asked.body]

    def folder(self, user: str = "user") -> Path:
        """Where a user's conversations are, or would be."""
        return self.parts.chats.conversations.folder_of(Scope(project=self.project, user=user))

    async def begun(self, *texts: str, id: str = "tea", memory: bool = False, user: str = "user") -> Recorded:
        """A chat that is stored and not answered yet, to be run by the test itself."""
        messages = [text_message("assistant" if at % 2 else "user", text) for at, text in enumerate(texts)]
        request = ModelRequest(messages=messages, model="any")
        scope = Scope(project=self.project, user=user, conversation=id)
        caller = Caller(scope=scope, request_id="r", memory=memory)
        return await self.parts.chats.recorder.begin(ChatRequest(request=request, stream=True), caller)


def told(*messages: JSON | str) -> list[JSON]:
    """Texts as messages of a user and an assistant in turn; what is a message already stays one."""
    roles = itertools.cycle(("user", "assistant"))
    return [{"role": next(roles), "content": one} if isinstance(one, str) else one for one in messages]


def said(role: str, content: object, **more: object) -> JSON:
    """One message."""
    return {"role": role, "content": content, **more}


def is_summary(asked: Asked) -> bool:
    """Whether a summary is asked for, and not an answer."""
    return "running summary" in asked.prompt


def texts_of(lines: Sequence[tuple[str, Any]]) -> list[Any]:
    """The contents alone."""
    return [content for _, content in lines]


@asynccontextmanager
async def opened_chats(folder: Path, llm: ScriptedLLM, **settings: Any) -> AsyncIterator[Chats]:
    """The program over that folder; settings by dotted keys."""
    given = {"storage.data_dir": str(folder / "data"), **asks(llm), **QUICK, **settings}
    parts = await open_parts(load_settings(None, given, environ={}))
    try:
        await parts.start()
        app = create_app(parts, ServerOptions())
        yield Chats(app=app, parts=parts, llm=llm, project=f"project-{next(_numbers)}")
    finally:
        await parts.aclose()
