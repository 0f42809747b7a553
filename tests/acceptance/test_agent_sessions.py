"""Sessions of coding agents over HTTP: memories are those of the person's sentences, in one thread of one branch."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from mnemoir.server import ServerOptions
from tests.chats.chat_kit import CHAT, Chats, opened_chats, said
from tests.remembering_model import learn_every_turn
from tests.scripted_llm import ScriptedLLM
from tests.server.server_kit import JSON, listening

REMINDER = (
    "<system-reminder>\n# claudeMd\nCodebase instructions: I work at Contoso. I live in Oslo.\n</system-reminder>"
)
LATER = "<system-reminder>\nThe todo list is empty. I live in Oslo.\n</system-reminder>"
BILLING = "x-anthropic-billing-header: cc_version=2.1.332; cc_entrypoint=cli;"
CLAUDE = "You are Claude Code, Anthropic's official CLI for Claude."
SUMMARY = (
    "This session is being continued from a previous conversation that ran out of context. The summary below covers "
    "the earlier portion.\n\nSummary:\n6. All user messages:\n   - I live in Oslo\n\nPlease continue the "
    "conversation from where we left it off without asking the user any further questions."
)


@dataclass
class Session:
    """One session of an agent, which sends all of its history with each request."""

    chats: Chats
    url: str
    headers: dict[str, str]
    history: list[JSON] = field(default_factory=list)

    async def ask(self, *messages: JSON, headers: dict[str, str] | None = None, **body: Any) -> JSON:
        """One request of the agent with these messages; the answer's message."""
        named = {"X-Memory": "on", "X-Mnemoir-Project": self.chats.project, **self.headers, **(headers or {})}
        async with httpx.AsyncClient() as client:
            answer = await client.post(
                f"{self.url}{CHAT}", json={"model": "any", "messages": messages, **body}, headers=named, timeout=60
            )
        assert answer.status_code == 200, answer.text
        message: JSON = answer.json()["choices"][0]["message"]
        return message

    async def say(self, *messages: JSON, system: Sequence[JSON] = (), **body: Any) -> None:
        """Go on with these messages, and keep the answer."""
        self.history += messages
        answer = await self.ask(*system, *self.history, **body)
        self.history.append({"role": "assistant", "content": answer["content"]})

    async def memories(self, last: str) -> list[str]:
        """All memories, once the last sentence said is among them."""
        async with asyncio.timeout(60):
            while last not in (texts := await self._texts()):  # noqa: ASYNC110  # no answer tells it
                await asyncio.sleep(0.01)
        return sorted(texts)

    async def threads(self) -> dict[str, list[str]]:
        """What the person said in each kept conversation; each has no branch."""
        found = {}
        for id in await self.chats.ids():
            assert await self.chats.lines(id, view="tree") == await self.chats.lines(id)
            found[id] = [content for role, content in await self.chats.lines(id) if role == "user"]
        return found

    async def _texts(self) -> list[str]:
        return [one["memory"] for one in (await self.chats.get("/api/memories/user"))["results"]]


@pytest.fixture
async def begin(tmp_path) -> AsyncIterator[Callable[..., Session]]:
    async with AsyncExitStack() as stack:
        llm = await stack.enter_async_context(ScriptedLLM())
        learn_every_turn(llm)
        chats = await stack.enter_async_context(opened_chats(tmp_path, llm))
        url = await stack.enter_async_context(listening(chats.app, ServerOptions()))
        yield lambda **headers: Session(
            chats=chats.anew(), url=url, headers={name.replace("_", "-"): one for name, one in headers.items()}
        )


def parts(*texts: str) -> list[JSON]:
    """A content of several texts."""
    return [{"type": "text", "text": text} for text in texts]


def instructions(*blocks: str) -> JSON:
    """A system message of several blocks, as they are cached."""
    return said("system", [{**one, "cache_control": {"type": "ephemeral"}} for one in parts(*blocks)])


def used(tool: str, call: str, result: str) -> list[JSON]:
    """A tool's call, and its result."""
    function = {"name": tool, "arguments": "{}"}
    called = {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": call, "type": "function", "function": function}],
    }
    return [called, {"role": "tool", "tool_call_id": call, "content": result}]


async def test_a_session_with_a_sub_agent_and_a_compaction(begin):
    """An agent that speaks OpenAI chat names its session and the parent of a sub-agent's."""
    session = begin(X_Session_Id="ses_a", User_Agent="opencode/1.18")
    child = {"X-Session-Id": "ses_b", "X-Parent-Session-Id": "ses_a"}
    agent = [said("system", "You are opencode, an interactive CLI agent."), said("system", "I live in Oslo.")]
    title = [
        said("system", "You are a title generator. You output ONLY a thread title."),
        said("user", "I live in Oslo."),
    ]
    await session.ask(*title)
    await session.say(said("user", "I live in Graz."), system=agent)
    await session.say(said("user", parts("I prefer tabs.", LATER)), *used("read", "c1", "I am vegan."), system=agent)
    await session.ask(*agent, said("user", "Look for Oslo. I am a pilot."), headers=child)
    await session.say(said("user", "I work at Siemens."), system=agent)

    request = "Provide a detailed prompt for continuing our conversation above. Focus on what I did in Oslo."
    compacted = await session.ask(*agent, *session.history, said("user", request))
    session.history = [said("user", "What did we do so far?"), said("assistant", compacted["content"] + " In Oslo.")]
    await session.say(said("user", "I have a rabbit."), system=agent)
    await session.say(said("user", "I play chess."), *used("read", "c2", "I am a judge."), system=agent)

    told = ["I have a rabbit.", "I live in Graz.", "I play chess.", "I prefer tabs.", "I work at Siemens."]
    assert await session.memories("I play chess.") == told
    assert {id: sorted(texts) for id, texts in (await session.threads()).items()} == {"ses_a": told}


async def test_the_shapes_of_claude_code_as_chat_messages(begin):
    session = begin(X_Claude_Code_Session_Id="one", User_Agent="claude-cli/2.1.332 (external, cli)")
    agent = [instructions(BILLING, CLAUDE, "You are an interactive agent. I live in Oslo.")]
    cached = instructions("# Environment: I live in Oslo.")
    await session.ask(*agent, said("user", "quota"), max_tokens=1)
    await session.ask(
        instructions(BILLING, "Generate a concise, sentence-case title for this session"),
        said("user", "I live in Oslo."),
    )
    await session.say(said("user", parts(REMINDER, "I live in Graz.")), cached, system=agent)
    session.history[0] = said("user", parts(REMINDER, "I live in Graz."))
    await session.say(said("user", "I prefer tabs."), *used("Task", "c1", "I am a pilot."), system=agent)

    told = instructions(BILLING, CLAUDE, "You are an agent for Claude Code, Anthropic's official CLI for Claude. Go.")
    await session.ask(told, said("user", parts(REMINDER, "I am a pilot. Find all tests.")))
    await session.ask(*agent, said("user", "I am a judge."), headers={"X-Claude-Code-Agent-Id": "a1"})

    caveat = "<local-command-caveat>Caveat: I live in Oslo.</local-command-caveat>"
    command = (
        "<command-name>/model</command-name>\n<command-message>model</command-message>\n<command-args></command-args>"
    )
    output = "<local-command-stdout>I live in Oslo.</local-command-stdout>"
    await session.say(
        said("user", caveat), said("user", f"{command}\n{output}"), said("user", "I work at Siemens."), system=agent
    )
    await session.ask(
        *agent,
        *session.history,
        said("user", "Your task is to create a detailed summary of the conversation so far."),
    )
    session.history = []
    await session.say(said("user", SUMMARY), said("user", parts(LATER, "I have a rabbit.")), system=agent)
    await session.say(said("user", "I play chess."), system=agent)

    words = ["I have a rabbit.", "I live in Graz.", "I play chess.", "I prefer tabs.", "I work at Siemens."]
    assert await session.memories("I play chess.") == words
    assert {id: sorted(texts) for id, texts in (await session.threads()).items()} == {"one": words}


async def test_the_shapes_of_codex_as_chat_messages(begin):
    session = begin(session_id="two", User_Agent="codex_cli_rs/0.171.0")
    agent = [said("developer", "You are Codex. I live in Oslo."), said("developer", "I am vegan.")]
    surroundings = said("user", "<environment_context>\n  <cwd>/oslo</cwd>\n</environment_context>")
    project = said(
        "user", "# AGENTS.md instructions for /oslo\n\n<INSTRUCTIONS>\nI work at Contoso.\n</INSTRUCTIONS>"
    )
    session.history = [project, surroundings]
    await session.say(said("user", "I live in Graz."), system=agent)
    await session.say(said("user", "I prefer tabs."), *used("shell", "c1", "I am a pilot."), system=agent)
    await session.ask(*agent, said("user", "I am a judge. Review it."), headers={"x-openai-subagent": "review"})
    asked = "You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff summary for another LLM."
    await session.ask(*agent, *session.history, said("user", asked))
    handover = "Another language model started to solve this problem and produced a summary. I live in Oslo."
    kept = [said("user", "I live in Graz."), said("user", "I prefer tabs.")]
    session.history = [project, surroundings, *kept, said("user", handover)]
    await session.say(said("user", "I work at Siemens."), system=agent)
    await session.say(said("user", "I play chess."), system=agent)

    words = ["I live in Graz.", "I play chess.", "I prefer tabs.", "I work at Siemens."]
    assert await session.memories("I play chess.") == words
    assert {id: sorted(texts) for id, texts in (await session.threads()).items()} == {"two": words}


async def test_the_shapes_of_cline(begin):
    session = begin(X_Session_Id="three")
    agent = [said("system", "You are Cline. I live in Oslo.")]
    details = "<environment_details>\n# Current Working Directory (/oslo)\nI live in Oslo.\n</environment_details>"
    await session.say(said("user", parts("<task>\nI live in Graz.\n</task>", details)), system=agent)
    await session.say(said("user", parts("[read_file for 'a.md'] Result:", "I am a pilot.", details)), system=agent)
    denied = (
        "[write_to_file for 'a.md'] Result:\nThe user denied this operation and provided the following feedback:\n"
        "<feedback>\nI prefer tabs.\n</feedback>"
    )
    await session.say(said("user", parts(denied, details)), system=agent)
    await session.say(said("user", parts("<user_message>\nI play chess.\n</user_message>", details)), system=agent)

    assert await session.memories("I play chess.") == ["I live in Graz.", "I play chess.", "I prefer tabs."]
    [texts] = (await session.threads()).values()
    assert [texts[0], *texts[2:]] == ["I live in Graz.", "I prefer tabs.", "I play chess."]


async def test_the_shapes_of_cline_with_native_tools(begin):
    """What the person answers to a tool stands in its result."""
    session = begin(X_Session_Id="four")
    agent = [said("system", "You are Cline. I live in Oslo.")]
    denied = "The user denied this operation and provided the following feedback:\n<feedback>\n{}\n</feedback>"
    await session.say(said("user", parts("<task>\nI live in Graz.\n</task>")), system=agent)
    await session.say(*used("read_file", "c1", denied.format("I am a pilot.")), system=agent)
    await session.say(*used("write_to_file", "c2", denied.format("I prefer tabs.")), system=agent)
    await session.say(*used("attempt_completion", "c3", "<feedback>\nI play chess.\n</feedback>"), system=agent)

    assert await session.memories("I play chess.") == ["I live in Graz.", "I play chess.", "I prefer tabs."]
