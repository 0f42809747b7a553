"""An engine over a real model client."""

from collections.abc import AsyncIterator

import pytest

from mnemoir.providers.http import new_session
from mnemoir.providers.llm.endpoint import Endpoint
from mnemoir.providers.llm.openai_chat import OpenAIChat
from mnemoir.workflows.definition import WorkflowDefinition, default_workflow
from mnemoir.workflows.engine import Engine
from mnemoir.workflows.nodes import recall, remember, standard
from tests.scripted_llm import ScriptedLLM
from tests.workflows.workflow_kit import VEGETARIAN, ListedMemory


@pytest.fixture
async def llm() -> AsyncIterator[ScriptedLLM]:
    async with ScriptedLLM() as server:
        yield server


@pytest.fixture
def memory() -> ListedMemory:
    return ListedMemory(lines=[VEGETARIAN])


@pytest.fixture
async def new_engine(llm, memory):
    """An engine on the scripted model; the default workflow unless another is given."""
    engines: list[Engine] = []
    async with new_session() as session:
        model = OpenAIChat(Endpoint(base_url=llm.openai_url, model="scripted", tries=1), session)

        def make(workflow: WorkflowDefinition | None = None) -> Engine:
            engine = Engine(
                workflow or default_workflow(),
                {
                    "Recall": lambda node: recall.Recall(memory, memory.allowance, memory.waiting),
                    "Standard": lambda node: standard.Standard(model),
                    "Remember": lambda node: remember.Remember(memory.keep, memory.allowance),
                },
            )
            engines.append(engine)
            return engine

        yield make
        for engine in engines:
            await engine.aclose()
