"""A bench to run one node on."""

from collections.abc import AsyncIterator

import pytest

from mnemoir.providers.http import new_session
from tests.scripted_llm import ScriptedLLM
from tests.workflows.nodes.node_kit import Bench


@pytest.fixture
async def bench(tmp_path) -> AsyncIterator[Bench]:
    async with new_session() as session:
        yield Bench(public=tmp_path / "Public", session=session)


@pytest.fixture
async def llm() -> AsyncIterator[ScriptedLLM]:
    async with ScriptedLLM() as server:
        yield server
