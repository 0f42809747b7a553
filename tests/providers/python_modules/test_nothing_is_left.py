"""Every end of a call also ends its process and the processes that it started.

A module opens a named pipe and says so in it; that the pipe comes to its end tells that all who held it are gone.
"""

import asyncio
import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from mnemoir.core.errors import ModuleFailed
from mnemoir.providers.python_modules.runner import ProcessModuleRunner

FOREVER = """
import os, time
def Invoke(path):
    pipe = open(path, "w")
    print("started", file=pipe, flush=True)
    time.sleep(600)
"""
GRANDCHILD = """
import os, time
def Invoke(path, how):
    pipe = open(path, "w")
    if os.fork() == 0:
        time.sleep(600)
    if how == "exit":
        os._exit(4)
    return how
"""
SERVER = """
import asyncio, sys
from pathlib import Path
from mnemoir.ports.node_services import ModuleCall
from mnemoir.providers.python_modules.runner import ProcessModuleRunner
root = Path(sys.argv[1])
call = ModuleCall(
    path="modules/tool.py", args=[sys.argv[2]], kwargs={}, config_root=root / "Configs", user="u", timeout_s=600
)
asyncio.run(ProcessModuleRunner([root], root).call(call))
"""


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


def what_is_there() -> set[object]:
    """Files, tasks, threads and processes; some may be of another test, and end at any time."""
    files = {f"{place} {os.readlink(place)}" for place in Path("/proc/self/fd").iterdir() if place.is_symlink()}
    return {*files, *asyncio.all_tasks(), *threading.enumerate(), *psutil.Process().children()}


async def test_a_call_that_is_cancelled_ends_its_process(public, runner, pipe):
    public.write(FOREVER)
    call = asyncio.create_task(runner.call(public.call(str(pipe))))
    with await asyncio.to_thread(pipe.open) as held:
        assert await asyncio.to_thread(held.readline) == "started\n"
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert await asyncio.to_thread(held.read) == ""


async def test_closing_ends_running_modules_and_fails_their_callers(public, runner, pipe):
    public.write(FOREVER)
    call = asyncio.create_task(runner.call(public.call(str(pipe))))
    with await asyncio.to_thread(pipe.open) as held:
        await runner.aclose()
        with pytest.raises(ModuleFailed, match="The program is stopping"):
            await call
        await asyncio.to_thread(held.read)
    with pytest.raises(ModuleFailed, match="stopping"):
        await runner.call(public.call(str(pipe)))


@pytest.mark.parametrize("how", ["return", "exit"])
async def test_children_of_a_module_end_with_its_call(public, runner, pipe, how):
    public.write(GRANDCHILD)
    call = asyncio.create_task(runner.call(public.call(str(pipe), how)))
    with await asyncio.to_thread(pipe.open) as held:
        assert await asyncio.to_thread(held.read) == ""
    if how == "return":
        assert await call == "return"
    else:
        with pytest.raises(ModuleFailed, match=r"ended its process \(exit status 4\)"):
            await call


def test_a_process_whose_server_was_killed_ends_too(public, pipe):
    public.write(FOREVER)
    server = subprocess.Popen([sys.executable, "-c", SERVER, str(public.root), str(pipe)])
    with pipe.open() as held:
        assert held.readline() == "started\n"
        server.kill()
        server.wait()
        assert held.read() == ""


async def test_a_thread_that_a_module_leaves_running_delays_its_answer_only_briefly(public, runner):
    source = "import threading, time\ndef Invoke(): threading.Thread(target=time.sleep, args=(600,)).start()"
    assert await public.run(runner, source) is None


async def test_data_in_a_file_that_a_module_left_open_is_written(public, runner, tmp_path):
    source = "kept = []\ndef Invoke(path):\n    kept.append(open(path, 'w'))\n    kept[0].write('all of it')"
    await public.run(runner, source, str(tmp_path / "written"))
    assert (tmp_path / "written").read_text() == "all of it"


async def test_a_cancelled_call_leaves_the_queue_at_once(public, pipe):
    public.write(FOREVER)
    runner = ProcessModuleRunner([public.root], public.root, at_once=1)
    first = asyncio.create_task(runner.call(public.call(str(pipe))))
    with await asyncio.to_thread(pipe.open):
        second = asyncio.create_task(runner.call(public.call(str(pipe))))
        await asyncio.sleep(0)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        assert not first.done()
    await runner.aclose()
    with pytest.raises(ModuleFailed):
        await first


@pytest.mark.slow
@pytest.mark.costly("it runs processes of modules")
async def test_no_process_no_file_no_task_and_no_thread_is_left(public):
    await asyncio.to_thread(lambda: None)
    before = what_is_there()
    runner = ProcessModuleRunner([public.root], public.root, most_output_bytes=10_000)
    sources = (
        "def Invoke(): return 1",
        "import os\ndef Invoke(): os._exit(1)",
        "def Invoke():\n  while True: pass",
        "def Invoke():\n  while True: print('x')",
        "def Invoke(): return 'x' * 20_000",
    )
    for source in sources:
        public.write(source)
        call = replace(public.call(), timeout_s=0.5)
        await asyncio.gather(*(runner.call(call) for _ in range(2)), return_exceptions=True)
    await runner.aclose()
    assert what_is_there() - before == set()
