"""What tests of discussions share: the real stores, and a discussion to keep in them."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mnemoir.core.discussions import Discussion
from mnemoir.memory.discussions.parts import DiscussionMemory
from tests.discussion_stores import close_stores, discussion_stores


@pytest.fixture
async def memory() -> AsyncIterator[DiscussionMemory]:
    stores = discussion_stores()
    yield stores
    await close_stores(stores)


@pytest.fixture
def tea(tmp_path: Path) -> Discussion:
    return Discussion(root=tmp_path, id="tea-time")
