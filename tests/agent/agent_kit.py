"""An agent over a scripted model server: real HTTP, real tools, a real session file."""

import math
import re
import zlib
from contextlib import asynccontextmanager

from mnemoir.agent import Agent, ChatModelLLM
from mnemoir.core.errors import ProviderUnavailable
from mnemoir.providers.http import new_session
from mnemoir.providers.llm.endpoint import Endpoint
from mnemoir.providers.llm.openai_chat import OpenAIChat
from tests.scripted_llm import ScriptedLLM


class ServedModel:
    """The scripted model server, and agents that call it."""

    def __init__(self, server, llm):
        self.server = server
        self.llm = llm

    def agent(self, *tools, **members):
        return Agent(self.llm, list(tools), **members)

    def calls(self, *calls, text=""):
        self.server.reply(text, tool_calls=list(calls))

    def says(self, text, **members):
        self.server.reply(text, **members)

    @property
    def asked(self):
        """The messages of every call, as (role, content)."""
        return [[(each["role"], each["content"]) for each in body["messages"]] for body in self.bodies]

    @property
    def bodies(self):
        return [request.body for request in self.server.requests]


@asynccontextmanager
async def served_model():
    async with ScriptedLLM() as server, new_session() as session:
        endpoint = Endpoint(base_url=server.openai_url, model="scripted", tries=1)
        yield ServedModel(server, ChatModelLLM(OpenAIChat(endpoint, session)))


async def events_of(agent, question):
    return [event async for event in agent.events(question)]


class WordVectors:
    """An embedding client: texts with common words are similar; `is_down` makes it fail."""

    model_name = "words"
    dimension = 256

    def __init__(self):
        self.is_down = False

    async def embed(self, texts):
        return [await self.embed_single(text) for text in texts]

    async def embed_single(self, text):
        if self.is_down:
            raise ProviderUnavailable("The embedder is down; start it.")
        vector = [0.0] * self.dimension
        for word in re.findall(r"\w+", text.lower()):
            vector[zlib.crc32(word.encode()) % self.dimension] += 1.0
        length = math.sqrt(sum(value * value for value in vector)) or 1.0
        return [value / length for value in vector]
