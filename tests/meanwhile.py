"""What work costs in processor time, and how long it was kept waiting: a busy machine stretches all other clocks."""

from contextlib import suppress
from pathlib import Path

import psutil

from tests.serving import ServerProcess


def processor_s(server: ServerProcess) -> float:
    """The processor time the server has taken since its start."""
    user, system, *_ = psutil.Process(server.pid).cpu_times()
    return float(user + system)


def delayed_s() -> float:
    """How long the threads of this process have waited for a processor; 0.0 where the kernel does not tell."""
    total_ns = 0
    for thread in Path("/proc/self/task").glob("*/schedstat"):
        with suppress(OSError):  # it has ended
            total_ns += int(thread.read_text().split()[1])
    return total_ns / 1e9
