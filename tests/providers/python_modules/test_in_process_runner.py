"""Modules in threads of the server."""

import asyncio
import os
import sys
import threading

import pytest

from mnemoir.core.errors import ModuleFailed, SettingsError
from mnemoir.providers.python_modules.runner import InProcessModuleRunner

UNEXPECTED = "Error: An unexpected error occurred while processing your request. Please check system logs."


@pytest.fixture
def runner(public, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    return InProcessModuleRunner([public.root], public.root)


async def test_a_module_runs_in_a_thread_of_this_process(public, runner):
    source = "import threading, os\ndef Invoke(): return [os.getpid(), threading.current_thread().name]"
    assert await public.run(runner, source) == [os.getpid(), "python-module"]


async def test_values_and_failures_are_those_of_the_other_runner(public, runner):
    assert await public.run(runner, "def Invoke(): return {1: (1, {2})}") == {"1": [1, "{2}"]}
    said = await public.run(runner, "def Invoke(): 1 / 0")
    assert said == UNEXPECTED
    with pytest.raises(SettingsError, match="no function `Invoke`"):
        await public.run(runner, "x = 1")
    with pytest.raises(ModuleFailed, match="did not find a file"):
        await public.run(runner, "def Invoke(): open('/no/such/file')")
    with pytest.raises(ModuleFailed, match="left its process"):
        await public.run(runner, "import sys\ndef Invoke(): sys.exit()")


async def test_a_thread_reads_the_configuration_of_its_own_call(public, runner):
    source = """
        from Middleware.utilities.config_utils import get_current_username
        def Invoke(): return get_current_username()
    """
    assert [await public.run(runner, source, user=name) for name in ("Ann", "Bob")] == ["Ann", "Bob"]


@pytest.fixture
def hanging(public, monkeypatch):
    """A module that does not return as long as the test runs."""
    let_go = threading.Event()
    monkeypatch.setattr(sys, "let_go", let_go, raising=False)
    public.write("import sys\ndef Invoke(): sys.let_go.wait()")
    yield public.call(timeout_s=0.05)
    let_go.set()


async def test_a_module_that_does_not_return_is_reported(runner, hanging):
    with pytest.raises(ModuleFailed, match=r"did not return within 0\.05 s"):
        await runner.call(hanging)


async def test_modules_that_do_not_return_cannot_fill_the_server(runner, hanging):
    await asyncio.gather(*(runner.call(hanging) for _ in range(16)), return_exceptions=True)
    with pytest.raises(ModuleFailed, match="16 others have not returned"):
        await runner.call(hanging)


async def test_a_module_outside_the_allowed_folders_is_refused_in_threads_too(public, runner):
    with pytest.raises(SettingsError, match="outside the directories"):
        await runner.call(public.call(path="/etc/hostname.py"))
