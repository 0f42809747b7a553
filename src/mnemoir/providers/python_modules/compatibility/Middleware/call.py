"""The call that a module runs for: its configuration folder and its user."""

from contextvars import ContextVar
from typing import NamedTuple


class Call(NamedTuple):
    """A module call: `config_root` is the Configs folder itself, `user` the name as configured."""

    config_root: str
    user: str


_of_thread: ContextVar[Call] = ContextVar("call")
_of_process: Call | None = None


def serve_process(config_root: str, user: str) -> None:
    """Set the call of this whole process, with all its threads."""
    global _of_process
    _of_process = Call(config_root, user)


def serve_thread(config_root: str, user: str) -> None:
    """Set the call of this thread only; threads that it starts have no call."""
    _of_thread.set(Call(config_root, user))


def current() -> Call:
    """The call of this thread or process. Raises RuntimeError outside a module that a workflow runs."""
    call = _of_thread.get(None) or _of_process
    if call is None:
        raise RuntimeError("The configuration can be read only in a module that a workflow runs, in its own thread.")
    return call
