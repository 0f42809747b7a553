"""An issuer at hand, and a server's view of its tokens."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.access.issuers.issuer_kit import Taking, taking
from tests.scripted_issuer import ScriptedIssuer


@pytest.fixture
async def issuer() -> AsyncIterator[ScriptedIssuer]:
    """The identity provider."""
    async with ScriptedIssuer() as scripted:
        yield scripted


@pytest.fixture
async def view(tmp_path: Path, issuer: ScriptedIssuer) -> AsyncIterator[Taking]:
    """Its tokens, as usual settings take them."""
    async with taking(tmp_path, issuer) as taken:
        yield taken
