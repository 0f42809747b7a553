"""The runners of Python modules: a process per call, a thread of the server, or a refusal of every call."""

import asyncio
import json
import os
import stat
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from math import ceil
from pathlib import Path
from typing import Any, Final

import structlog

from mnemoir.core.errors import ModuleFailed, SettingsError
from mnemoir.ports.node_services import ModuleCall, ModuleRunner
from mnemoir.providers.python_modules import child
from mnemoir.providers.python_modules.outcome import CallLimits, timed_out, value_of_answer, value_of_ending
from mnemoir.providers.python_modules.process import ModuleProcess, ProcessEnd, module_environment

_log = structlog.get_logger(__name__)
_MOST_SHOWN = 200  # characters of a path shown in a message; a path may come from a variable
COMPATIBILITY: Final = Path(__file__).with_name("compatibility")
_MIB: Final = 1024 * 1024
_MOST_OUTPUT_BYTES: Final = 16 * _MIB
_MOST_THREADS: Final = 16
_MOST_CPU_S: Final = 1_000_000


class ModuleFolders:
    """The allowed directories (`roots`), and `base`, the public root against which a relative path is resolved."""

    def __init__(self, roots: Sequence[Path], base: Path) -> None:
        self._roots = [_resolved_path(root) for root in roots]
        self._base = _resolved_path(base)

    @property
    def install_root(self) -> Path:
        """The parent of a base named `Public`, so that modules can import `Public.modules`; else the base."""
        return self._base.parent if self._base.name.lower() == "public" else self._base

    @property
    def import_roots(self) -> Sequence[Path]:
        """Folders of a module's own imports, searched after all installed packages.

        Folders that everyone may write to are left out: any user could place a package there that an import finds.
        """
        roots = dict.fromkeys((self.install_root, self._base))
        return tuple(root for root in roots if not root.stat().st_mode & stat.S_IWOTH)

    def find(self, text: str) -> Path:
        """The file of a node's path, with all symlinks resolved. Raises SettingsError when it may not run."""
        try:
            return self._existing_file(text)
        except OSError as exc:
            raise _refusal(text, f"the path cannot be followed ({exc.strerror})", "Correct `module_path`.") from exc

    def _existing_file(self, text: str) -> Path:
        inside = [(path, root) for path in self._candidate_files(text) if (root := self._root_of(path)) is not None]
        if not inside:
            allowed = ", ".join(str(root) for root in self._roots) or "none"
            raise _refusal(
                text,
                f"it is outside the directories that modules may come from ({allowed})",
                "Move it there, or allow its directory in the section `workflows` of the settings.",
            )
        for path, root in inside:
            if path.exists():
                _check(text, path, root)
                return path
        raise _refusal(
            text, f"there is no file {str(inside[0][0])[:_MOST_SHOWN]}", "Correct `module_path` of the node."
        )

    def _candidate_files(self, text: str) -> list[Path]:
        """The files that a path may denote, the preferred one first."""
        if not text.strip() or "\0" in text:
            raise _refusal(text, "it is not a valid path", "Give the node a `module_path`.")
        try:
            path = Path(text.strip()).expanduser()
            folders = (self._base, self.install_root)
            return [(folder / path).resolve() for folder in folders]  # an absolute path stays what it is
        except RuntimeError as exc:  # an unknown home directory, or a circle of symlinks
            raise _refusal(text, f"the path cannot be followed ({exc})", "Correct `module_path`.") from exc

    def _root_of(self, path: Path) -> Path | None:
        return next((root for root in self._roots if path.is_relative_to(root)), None)


def _resolved_path(directory: Path) -> Path:
    return directory.expanduser().resolve()


def _check(text: str, path: Path, root: Path) -> None:
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode) or path.suffix != ".py":
        raise _refusal(text, "it is not a Python file", "Name a file that ends in .py.")
    for place in (path, *path.parents):
        if place.stat().st_mode & stat.S_IWOTH:
            raise _refusal(text, f"everyone may write to {place}", f"Run: chmod o-w {place}")
        if place == root:
            return


def _refusal(text: str, cause: str, step: str) -> SettingsError:
    return SettingsError(f"Python module {text[:_MOST_SHOWN]!r} cannot run: {cause}. {step}")


class ProcessModuleRunner:
    """Runs each call in a new interpreter with limits on time, memory and output.

    This protects against accidents, not against attackers: a module has all rights of the server's user. `roots` are
    the allowed directories of modules, `base` is the public root; calls beyond `at_once` wait.
    """

    def __init__(
        self,
        roots: Sequence[Path],
        base: Path,
        *,
        most_memory_mib: int = 1024,
        most_output_bytes: int = _MOST_OUTPUT_BYTES,
        at_once: int = 4,
    ) -> None:
        self._folders = ModuleFolders(roots, base)
        self._most_memory_mib = most_memory_mib
        self._most_output_bytes = most_output_bytes
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix="python-module")
        self._running: set[ModuleProcess] = set()
        self._is_closed = False

    async def call(self, call: ModuleCall) -> Any:
        """See ModuleRunner. Cancelling the call kills its process."""
        if self._is_closed:
            raise ModuleFailed(f"Python module {call.path} was not started: the program is stopping.")
        process = ModuleProcess(timeout_s=call.timeout_s, most_bytes=self._most_output_bytes)
        self._running.add(process)
        submitted = self._threads.submit(self._run, process, call)
        work = asyncio.wrap_future(submitted)
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            if not submitted.cancel():  # it has left the queue and runs
                process.stop()
                await asyncio.wait([work])
            raise
        finally:
            self._running.discard(process)

    async def aclose(self) -> None:
        """Kill the running processes; their callers get ModuleFailed. May be called again."""
        self._is_closed = True
        for process in tuple(self._running):
            process.stop()
        await asyncio.to_thread(self._threads.shutdown)

    def _run(self, process: ModuleProcess, call: ModuleCall) -> Any:
        path = self._folders.find(call.path)
        try:
            ending = process.run(
                self._line(call, path),
                environment=module_environment(os.environ),
                directory=self._folders.install_root,
            )
        except OSError as exc:
            raise ModuleFailed(f"Python module {path} could not be started: {exc}. Try again later.") from exc
        _log_prints(ending, path)
        return value_of_ending(ending, str(path), self._limits(call))

    def _limits(self, call: ModuleCall) -> CallLimits:
        return CallLimits(
            timeout_s=call.timeout_s, memory_mib=self._most_memory_mib, output_bytes=self._most_output_bytes
        )

    def _line(self, call: ModuleCall, path: Path) -> bytes:
        most_cpu_s = ceil(min(call.timeout_s, _MOST_CPU_S)) * (os.cpu_count() or 1) + 1  # on all processors at once
        process_limits = {"memory_bytes": self._most_memory_mib * _MIB, "cpu_s": most_cpu_s}
        described = _call_for_child(call, path, self._folders, self._limits(call))
        return json.dumps(described | process_limits).encode() + b"\n"


class InProcessModuleRunner:
    """Runs each call in a thread of the server: starts faster, but has no limit on memory or processor time.

    A thread cannot be killed: a module that never returns is reported and runs until the server ends. It uses the
    server's memory, prints to the server's output, and any change of the interpreter affects the server. Imported
    packages stay loaded, and import folders stay on the server's import path. Use it only for trusted modules.
    """

    def __init__(self, roots: Sequence[Path], base: Path) -> None:
        self._folders = ModuleFolders(roots, base)
        self._free_threads = threading.BoundedSemaphore(_MOST_THREADS)

    async def call(self, call: ModuleCall) -> Any:
        """See ModuleRunner. The time limit ends the waiting, not the module."""
        if not self._free_threads.acquire(blocking=False):
            raise ModuleFailed(
                f"Python module {call.path} was not started: {_MOST_THREADS} others have not returned. "
                "Set workflows.python_modules to process, where modules can be ended."
            )
        done: Future[Any] = Future()
        done.set_running_or_notify_cancel()  # from here on only the thread sets its result
        threading.Thread(target=self._settle, args=(done, call), daemon=True, name="python-module").start()
        try:
            return await asyncio.wait_for(asyncio.wrap_future(done), call.timeout_s)
        except TimeoutError as exc:
            raise timed_out(call.path, call.timeout_s) from exc

    async def aclose(self) -> None:
        """Does nothing: running threads cannot be ended."""

    def _settle(self, done: Future[Any], call: ModuleCall) -> None:
        limits = CallLimits(timeout_s=call.timeout_s, memory_mib=None, output_bytes=_MOST_OUTPUT_BYTES)
        try:
            path = self._folders.find(call.path)
            answer = child.run_in_thread(_call_for_child(call, path, self._folders, limits))
            done.set_result(value_of_answer(answer, str(path), limits))
        except BaseException as exc:  # noqa: BLE001 - the waiting caller gets it
            done.set_exception(exc)
        finally:
            self._free_threads.release()


class NoModules:
    """Refuses every call: code runs only when the settings allow it."""

    async def call(self, call: ModuleCall) -> Any:
        """Always raises SettingsError."""
        raise SettingsError(
            f"Python module {call.path} was not run: modules are switched off. "
            "Set workflows.python_modules to let workflows run them."
        )

    async def aclose(self) -> None:
        """Does nothing: no module runs."""


def _call_for_child(call: ModuleCall, path: Path, folders: ModuleFolders, limits: CallLimits) -> dict[str, Any]:
    """The call in the form that the child program reads."""
    return {
        "path": str(path),
        "args": list(call.args),
        "kwargs": dict(call.kwargs),
        "config_root": str(call.config_root),
        "user": call.user,
        "compatibility": str(COMPATIBILITY),
        "import_roots": [str(root) for root in folders.import_roots],
        "output_bytes": limits.output_bytes,
    }


def _log_prints(ending: ProcessEnd, path: Path) -> None:
    if ending.printed:
        _log.debug("module output", module=str(path), text=ending.printed.decode(errors="replace"))


_: Sequence[type[ModuleRunner]] = (ProcessModuleRunner, InProcessModuleRunner, NoModules)  # checked, never used
