"""A public folder, and a runner whose processes are small and are all ended."""

from collections.abc import AsyncIterator

import pytest

from mnemoir.providers.python_modules.runner import ProcessModuleRunner
from tests.providers.python_modules.module_kit import PublicFolder


@pytest.fixture
def public(tmp_path) -> PublicFolder:
    folder = PublicFolder(root=tmp_path / "install" / "Public")
    (folder.root / "Configs").mkdir(parents=True)
    return folder


@pytest.fixture
async def runner(public) -> AsyncIterator[ProcessModuleRunner]:
    runner = ProcessModuleRunner([public.root], public.root, most_memory_mib=512, most_output_bytes=1024 * 1024)
    yield runner
    await runner.aclose()
