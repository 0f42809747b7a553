"""Start-up time, resident memory, size on disk, and the longest stall of the event loop under load."""

import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil
import requests

from bench import figures
from bench.memories import Memories, texts
from bench.report import median, ms, table
from tests.serving import ServerProcess

STARTS = 5
MANY = 10_000
MIB = 1024 * 1024


def start_times(folder: Path) -> list[float]:
    """Seconds from the start of the process to its first ready answer; the first start is not counted."""
    took = []
    for _ in range(STARTS + 1):
        started = time.perf_counter()
        with ServerProcess(folder / "data"):
            took.append(time.perf_counter() - started)
    return took[1:]


def restart_times(folder: Path) -> list[float]:
    """Seconds from the start to the first listing, over ten thousand memories, each time after kill -9."""
    server, took = ServerProcess(folder / "full"), []
    with server:
        memories = Memories(server.url)
        for batch in range(0, MANY, 500):
            memories.add(texts(500, seed=batch), "someone")
    for _ in range(STARTS):
        started = time.perf_counter()
        try:
            server.start()
            listed = requests.get(
                f"{server.url}/api/memories", params={"user_id": "someone", "limit": "1"}, timeout=30
            )
            took.append(time.perf_counter() - started)
            assert listed.json()["total"] == MANY
        finally:
            server.kill()
    return took


def resident(folder: Path) -> tuple[float, float]:
    """Resident MiB of the server when it is ready, and after its first add and search."""
    with ServerProcess(folder / "data") as server:
        fresh = psutil.Process(server.pid).memory_info().rss / MIB
        memories = Memories(server.url)
        memories.add(texts(20), "someone")
        memories.search("who likes rowing?", "someone")
        return fresh, psutil.Process(server.pid).memory_info().rss / MIB


def plain_start() -> float:
    """The baseline: seconds for the interpreter to import only the web framework."""
    took = []
    for _ in range(STARTS):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", "import fastapi, uvicorn, aiohttp"], check=True)
        took.append(time.perf_counter() - started)
    return median(took)


def loop_stall(folder: Path) -> float:
    """The longest response time of an empty route while two clients add and search in bulk."""
    with ServerProcess(folder / "data") as server:
        memories, stop = Memories(server.url), threading.Event()

        def load() -> None:
            own = Memories(server.url)
            for number in range(6):
                own.add(texts(500, seed=number), "busy")
                own.search("who paints trains in Oslo?", "busy")
            stop.set()

        memories.add(texts(500), "busy")
        worker = threading.Thread(target=load)
        worker.start()
        longest, session = 0.0, requests.Session()
        while not stop.wait(0.01):
            started = time.perf_counter()
            session.get(f"{server.url}/api/version", timeout=30)
            longest = max(longest, time.perf_counter() - started)
        worker.join()
        return longest


def run() -> None:
    """Run the whole benchmark."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        starts, plain, (fresh, warm) = start_times(home), plain_start(), resident(home)
        restart = median(restart_times(home))
        figures.keep("start: to ready, in imports of the web framework", median(starts) / plain)
        figures.keep("start: resident when ready, MiB", fresh)
        figures.keep("start: resident after the first search, MiB", warm)
        table(
            "start and size",
            ["", "measured", "baseline", "ratio"],
            [
                [
                    "start to ready (median)",
                    ms(median(starts)),
                    f"{ms(plain)} (imports alone)",
                    f"{median(starts) / plain:.1f}",
                ],
                ["restart over 10,000 memories after kill -9", ms(restart), "", f"{restart / plain:.1f}"],
                ["resident, ready", f"{fresh:.0f} MiB", "", ""],
                ["resident, after the first search", f"{warm:.0f} MiB", "", ""],
                ["slowest answer of an idle route under load", ms(loop_stall(home)), "", ""],
            ],
        )
