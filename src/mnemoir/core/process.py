"""Protection of this process from other programs of the same user, which may be Python modules of a workflow."""

import ctypes
import sys

_PR_SET_DUMPABLE = 4


def close_to_others() -> bool:
    """Let no other process of this user read this one's environment or memory; True where the system can do that.

    On Linux, where nothing of it can be dumped after a crash or traced by a debugger from then on either. Programs
    that it starts are not concerned.
    """
    if sys.platform != "linux":
        return False
    return bool(ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) == 0)
