"""Kept chats with memory on: what is remembered, what a model is shown, and which lines stand in front of what."""

import json
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import orjson

from mnemoir.core.text import RecalledLine, fenced_lines, take_down
from mnemoir.providers.http import AsgiAnswer
from tests.chats.chat_kit import CHAT, Chats, said
from tests.remembering_model import DECISION, EXTRACTION, learn_every_turn, users_words
from tests.scripted_llm import Answer, Asked, ScriptedLLM
from tests.server.server_kit import JSON

ON = {"x_memory": "on"}
HOME = "Lives in"
CALL = "call_0"  # the id of the call of a tool that the scripted model asks for


def learn_statements(llm: ScriptedLLM) -> None:
    """Let each statement of a user be one fact, and a question none; a new home replaces the one before."""

    def nothing(asked: Asked) -> Answer | None:
        is_a_question = any(text.endswith("?") for text in users_words(asked))
        return Answer(text=json.dumps({"facts": []})) if is_a_question else None

    def decide(asked: Asked) -> str:
        document = json.loads(asked.body["messages"][-1]["content"])
        old = [one for one in document["memories"] if one["text"].startswith(HOME)]
        rows = [
            {"id": one["id"], "text": fact, "event": "UPDATE", "old_memory": one["text"]}
            for one in old
            for fact in document["facts"]
            if fact.startswith(HOME)
        ]
        return json.dumps({"memory": rows})

    llm.rule(lambda asked: DECISION in asked.prompt, decide)
    learn_every_turn(llm, nothing)


@dataclass
class Talk:
    """One conversation, whose client sends all of its history with each request."""

    chats: Chats
    id: str | None = "tea"
    history: list[JSON] = field(default_factory=list)
    sent: list[list[JSON]] = field(default_factory=list)

    async def send(self, *messages: JSON, headers: dict[str, str] | None = None, **body: Any) -> AsgiAnswer:
        """One request with these messages and the memory switch on."""
        answer = await self.chats.chat(*messages, id=self.id, headers={**ON, **(headers or {})}, **body)
        assert answer.status == 200, answer.body
        self.sent.append(shown(self.chats))
        return answer

    async def say(self, *messages: JSON | str, headers: dict[str, str] | None = None) -> AsgiAnswer:
        """Go on with these messages, and keep the answer."""
        self.history += [said("user", one) if isinstance(one, str) else one for one in messages]
        answer = await self.send(*self.history, headers=headers)
        message = orjson.loads(answer.body)["choices"][0]["message"]
        self.history.append({name: message[name] for name in ("role", "content", "tool_calls") if message.get(name)})
        return answer

    async def use_tool(self, result: str) -> AsgiAnswer:
        """Go on with the result of the tool that the answer before asked for."""
        return await self.say(said("tool", result, tool_call_id=CALL))

    @property
    def former(self) -> dict[str, list[str]]:
        """The same without the newest question."""
        last = next(take_down(one["content"]) for one in reversed(self.sent[-1]) if one["role"] == "user")
        return {question: lines for question, lines in self.lines.items() if question != last}

    @property
    def goes_on(self) -> bool:
        """Whether each request began with all messages of the one before."""
        return all(later[: len(earlier)] == earlier for earlier, later in pairwise(self.sent))

    @property
    def lines(self) -> dict[str, list[str]]:
        """What stood in front of each question in the last request, by the question."""
        return lines_in(self.sent[-1])


def shown(chats: Chats) -> list[JSON]:
    """The messages that the model was asked to answer last."""
    asked = (one for one in reversed(chats.llm.requests) if one.path.endswith(CHAT.removeprefix("/v1")) and one.body)
    messages: list[JSON] = next(one.body["messages"] for one in asked if EXTRACTION not in one.prompt)
    return messages


def recalled_in(messages: list[JSON]) -> list[RecalledLine]:
    """All recalled lines of a request, in order."""
    return [line for one in messages for line in fenced_lines(one.get("content") or "")]


def lines_in(messages: list[JSON]) -> dict[str, list[str]]:
    """The lines in front of each message of a user that has any, by its words."""
    texts = [one["content"] for one in messages if one["role"] == "user"]
    return {take_down(text): [line.text for line in fenced_lines(text)] for text in texts if fenced_lines(text)}


async def remember(chats: Chats, *texts: str, **more: Any) -> list[str]:
    """The ids of memories with these words."""
    sources = [said("user", text) for text in texts]
    body = {"messages": sources, "user_id": "user", "infer": False, **more}
    return [one["id"] for one in (await chats.post("/api/memories", body))["results"]]


async def learn(chats: Chats, text: str) -> JSON:
    """What an add of a statement did."""
    added: JSON = await chats.post("/api/memories", {"messages": [said("user", text)], "user_id": "user"})
    return added
