"""An agent with tools and a memory, on any OpenAI-compatible server, or on none.

    .venv/bin/python examples/agent.py                          # offline: a stand-in plays the model
    .venv/bin/python examples/agent.py --url http://127.0.0.1:11434/v1 --model qwen3 "What is 12.5 * 8?"
    .venv/bin/python examples/agent.py --session work --memory agent.db "Note that the rent is 740."

The key is read from OPENAI_API_KEY. With --session the conversation is kept, and the next call goes on with it.
"""

import argparse
import ast
import asyncio
import operator
import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path

from mnemoir.agent import LLM, Agent, Answered, ChatModelLLM, CompletionResponse, Text, ToolFinished, tool
from mnemoir.conversations import MemoryManager, ToolCall
from mnemoir.providers.http import new_session
from mnemoir.providers.llm.endpoint import Endpoint
from mnemoir.providers.llm.openai_chat import OpenAIChat

NOTES = Path("notes.txt")
OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


@tool
def calculate(expression: str) -> float:
    """Work out an expression of numbers, + - * / and brackets."""

    def value(node: ast.expr) -> float:
        match node:
            case ast.Constant(value=int() | float() as number):
                return number
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -value(operand)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                return OPERATORS[type(op)](value(left), value(right))
        raise ValueError("only numbers, + - * / and brackets can be worked out")

    return value(ast.parse(expression, mode="eval").body)


@tool
def now() -> str:
    """The date and time, in UTC."""
    return datetime.now(UTC).isoformat(timespec="minutes")


@tool(dangerous=True)
def note(text: str) -> str:
    """Add a line to the file of notes.

    Args:
        text: the line, without a line break
    """
    with NOTES.open("a", encoding="utf-8") as file:
        file.write(text.replace("\n", " ") + "\n")
    return f"noted in {NOTES}"


class StandIn:
    """Plays the model where there is none. `complete` is all that an agent asks for."""

    async def complete(self, *, messages, tools) -> CompletionResponse:
        last = messages[-1]
        if last.role == "tool":
            return CompletionResponse(f"{last.name} says: {last.content}")
        if tools and (found := re.search(r"[-(\d][-+*/().\d\s]*[\d)]", last.text)):
            return CompletionResponse(None, [ToolCall("1", "calculate", {"expression": found[0].strip()})])
        if tools and "time" in last.text:
            return CompletionResponse(None, [ToolCall("1", "now")])
        return CompletionResponse("I am a stand-in: I can work out 2 * (3 + 4), and tell the time.")


def confirm(name: str, description: str, arguments: dict) -> bool:
    """Ask the person at the terminal; without one, the answer is no."""
    if not sys.stdin.isatty():
        return False
    return input(f"Run {name} with {arguments}? [y/N] ").strip().lower() == "y"


@asynccontextmanager
async def model(url: str | None, name: str) -> AsyncIterator[LLM]:
    """The model at `url`, or the stand-in."""
    if url is None:
        yield StandIn()
        return
    async with new_session() as session:
        yield ChatModelLLM(
            OpenAIChat(Endpoint(base_url=url, model=name, api_key=os.environ.get("OPENAI_API_KEY")), session)
        )


async def answer(agent: Agent, question: str) -> None:
    """One question, with the tools that ran and the reply as it comes."""
    print(f"> {question}")
    async for event in agent.events(question):
        match event:
            case ToolFinished(call=call, outcome=outcome):
                print(f"[{call.name} {dict(call.arguments)}: {outcome}]")
            case Text(text=text):
                print(text, end="", flush=True)
            case Answered(degraded=degraded):
                print(f"\n(did not work: {', '.join(degraded)})" if degraded else "")


async def main() -> None:
    options = argparse.ArgumentParser(description="Ask an agent with tools.")
    options.add_argument("question", nargs="*")
    options.add_argument("--url", help="base URL of an OpenAI-compatible server, with /v1")
    options.add_argument("--model", default="gpt-5-mini")
    options.add_argument("--session", help="keep the conversation under this name")
    options.add_argument("--memory", default="agent.db", help="the file that conversations are kept in")
    given = options.parse_args()
    questions = [" ".join(given.question)] if given.question else ["What is (17 + 4) * 2?", "What time is it?"]
    keeping = MemoryManager(given.memory) if given.session else nullcontext()
    with keeping as memory:
        async with model(given.url, given.model) as llm:
            agent = Agent(
                llm,
                [calculate, now, note],
                confirm_callback=confirm,
                memory_manager=memory,
                session_id=given.session,
            )
            for question in questions:
                await answer(agent, question)


asyncio.run(main())
