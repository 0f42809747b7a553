"""What a server's work costs, in processor time: a busy machine stretches every clock but this one."""

import psutil

from tests.serving import ServerProcess


def processor_s(server: ServerProcess) -> float:
    """The processor time the server has taken since its start."""
    user, system, *_ = psutil.Process(server.pid).cpu_times()
    return user + system
