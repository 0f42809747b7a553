"""The program that runs one call of a module, in a process of its own or in a thread of the server.

As a program it takes two file descriptors: it reads the call from the first and writes the outcome to the second,
each as one line of JSON. It imports nothing of the server, so that it starts as fast as the interpreter.

An outcome has a `kind`: `value`, with the module's return value or a text that begins with `Error`; `unusable`, with
`why`, for a file that is not a module; `memory`, `missing_file`, `too_large` and `left` for a module that failed.
"""

import importlib
import json
import os
import signal
import sys
import threading
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from types import ModuleType
from typing import Any

_NAME = "dynamic_module"  # the `__name__` of a module by the format's contract
_MOST_SAID = 2000  # characters of an exception's message
# the format's own sentence, which existing trees may search for; the log gets the real cause
_FAILED = "Error: An unexpected error occurred while processing your request. Please check system logs."


def main() -> None:
    """Run the call that this process was started for."""
    calls, outcomes = int(sys.argv[1]), int(sys.argv[2])
    for descriptor in (calls, outcomes):
        os.set_inheritable(descriptor, False)
    with open(calls, "rb", closefd=False) as lines:
        call = json.loads(lines.readline())
    threading.Thread(target=_end_with_the_server, args=(calls,), daemon=True).start()
    _limit(call["memory_bytes"], call["cpu_s"])
    sys.argv[:] = [call["path"]]
    _extend_imports(call)
    importlib.import_module("Middleware.call").serve_process(call["config_root"], call["user"])
    line = _line(_outcome(call), call["output_bytes"])
    with open(outcomes, "wb", closefd=False) as pipe:  # the server takes its closing as the end of the process
        pipe.write(line)


def run_in_thread(call: dict[str, Any]) -> bytes:  # JSON in
    """Run a call in this thread of the server and return the outcome as one line of JSON."""
    _extend_imports(call)
    importlib.import_module("Middleware.call").serve_thread(call["config_root"], call["user"])
    return _line(_outcome(call), call["output_bytes"])


def _extend_imports(call: dict[str, Any]) -> None:
    """Put the compatibility package before all import paths, and the user's folders behind the installed packages."""
    if call["compatibility"] not in sys.path:
        sys.path.insert(0, call["compatibility"])
    folders = [*call["import_roots"], os.path.dirname(call["path"])]
    sys.path.extend(folder for folder in dict.fromkeys(folders) if folder not in sys.path)


def _outcome(call: dict[str, Any]) -> dict[str, Any]:  # JSON in, JSON out
    """Load the file from disk, call its `Invoke` and return the outcome."""
    try:
        try:
            invoke = _load(call["path"]).Invoke
        except (MemoryError, SystemExit):
            raise
        except Exception as exc:  # noqa: BLE001 - the user's file may raise any exception
            return {"kind": "unusable", "why": _why_unusable(exc)}
        if not callable(invoke):
            return {"kind": "unusable", "why": "its `Invoke` is not a function"}
        return _answer(invoke, call)
    except MemoryError:
        return {"kind": "memory"}
    except FileNotFoundError as exc:
        return {"kind": "missing_file", "why": _exception_text(exc)}
    except SystemExit as exc:
        return {"kind": "left", "why": str(exc.code)[:_MOST_SAID]}


def _answer(invoke: Any, call: dict[str, Any]) -> dict[str, Any]:  # any function, and JSON
    try:
        return {"kind": "value", "value": _plain(invoke(*call["args"], **call["kwargs"]))}
    except (MemoryError, FileNotFoundError):
        raise
    except Exception as exc:  # noqa: BLE001 - by the format's contract an exception is the module's answer
        return {"kind": "value", "value": _error_text(exc, call["path"]), "raised": _exception_text(exc)}


def _line(outcome: dict[str, Any], most_bytes: int) -> bytes:
    try:
        line = json.dumps(outcome, ensure_ascii=False).encode(errors="replace") + b"\n"  # lone surrogates, too
    except MemoryError:
        return _line({"kind": "memory"}, most_bytes)
    except ValueError as exc:  # a number of more digits than Python writes
        return _line({"kind": "value", "value": f"Error in what the module returned: {exc}"}, most_bytes)
    return line if len(line) <= most_bytes else b'{"kind": "too_large"}\n'


def _load(path: str) -> ModuleType:
    """Load the module from its source: cached bytecode would miss a change within the same second."""
    loader = SourceFileLoader(_NAME, path)
    spec = spec_from_loader(_NAME, loader)
    assert spec is not None  # only a loader without this module gives None
    module = module_from_spec(spec)
    sys.modules[_NAME] = module  # dataclasses and pickle look their module up
    exec(loader.source_to_code(loader.get_data(path), path), module.__dict__)
    return module


def _why_unusable(exc: Exception) -> str:
    if isinstance(exc, AttributeError) and exc.name == "Invoke" and isinstance(exc.obj, ModuleType):
        return "it has no function `Invoke`"
    return f"it could not be loaded ({_exception_text(exc)})"


def _error_text(exc: Exception, path: str) -> str:
    name = os.path.splitext(os.path.basename(path))[0]
    # compared by name, because a user's folder may contain its own copy of the class
    if not any(kind.__name__ == "DynamicModuleError" for kind in type(exc).__mro__):
        return _FAILED
    details = getattr(exc, "details", None)
    text = f"Error processing request in module '{getattr(exc, 'module_name', None) or name}'. {exc}"
    return f"{text}. Details: {details}" if details else text


def _exception_text(exc: Exception) -> str:
    return f"{type(exc).__name__}: {exc}"[:_MOST_SAID]


def _plain(value: Any) -> Any:  # anything in, JSON out
    """The value in JSON types: tuples as lists, keys as texts, other objects as their `str`."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, dict):
        return {key if isinstance(key, str) else str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return str(value)


def _limit(memory_bytes: int, cpu_s: int) -> None:
    """Set the process limits, before any of the module's code runs.

    The limit on processor time also ends a process that the server no longer waits for.
    """
    import resource  # only POSIX has it; the thread runner, which sets no limits, does not need it

    for kind, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, cpu_s),
        (resource.RLIMIT_AS, memory_bytes),
    ):
        hard = resource.getrlimit(kind)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))


def _end_with_the_server(calls: int) -> None:
    """Kill this process group when the call's pipe closes: the server has finished with it, or was killed itself."""
    while os.read(calls, 1):
        pass
    os.killpg(os.getpgrp(), signal.SIGKILL)


if __name__ == "__main__":
    main()
