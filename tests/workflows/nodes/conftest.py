"""A bench to run one node on."""

from collections.abc import AsyncIterator

import pytest

from mnemoir.providers.http import new_session
from tests.discussion_stores import close_stores
from tests.scripted_llm import ScriptedLLM
from tests.workflows.nodes.node_kit import Bench


@pytest.fixture
async def bench(tmp_path) -> AsyncIterator[Bench]:
    async with new_session() as session:
        bench = Bench(public=tmp_path / "Public", session=session)
        yield bench
        await close_stores(bench.discussions)


@pytest.fixture
async def llm() -> AsyncIterator[ScriptedLLM]:
    async with ScriptedLLM() as server:
        yield server
