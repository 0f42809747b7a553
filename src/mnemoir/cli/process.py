"""This process: its protection from other programs of the same user, such as modules of workflows; its open files."""

import ctypes
import sys

from mnemoir.core.errors import SettingsError

_PR_SET_DUMPABLE = 4


def close_to_others() -> bool:
    """Let no other process of this user read this one's environment or memory; True where the system can do that.

    On Linux, where nothing of it can be dumped after a crash or traced by a debugger from then on either. Programs
    that it starts are not concerned.
    """
    if sys.platform != "linux":
        return False
    return bool(ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) == 0)


def raise_file_limit(fewest: int) -> None:
    """Let this process open at least so many files. Raises SettingsError where the system lets it open fewer."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= fewest:
        return
    if hard != resource.RLIM_INFINITY and hard < fewest:
        raise SettingsError(
            f"This process may open {hard} files and a server needs {fewest}, so raise the limit (`ulimit -n`, or "
            "LimitNOFILE of a service) and start it again."
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (fewest, hard))
