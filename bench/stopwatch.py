"""Measurement of the time spent in chosen classes."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any


class Stopwatch:
    """Sums up `seconds` while a method or property of the measured classes runs; nested calls count once."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._is_running = False

    @contextmanager
    def on(self, *classes: type) -> Iterator[None]:
        """Measure these classes within the block."""
        before = [
            (kind, name, member)
            for owner in classes
            for kind in owner.__mro__[:-1]
            for name, member in vars(kind).items()
        ]
        for kind, name, member in before:
            if isinstance(member, property):
                setattr(kind, name, property(self._timed(member.fget)))
            elif callable(member):
                setattr(kind, name, self._timed(member))
        try:
            yield
        finally:
            for kind, name, member in before:
                if callable(member) or isinstance(member, property):
                    setattr(kind, name, member)

    def _timed(self, function: Callable[..., Any] | None) -> Callable[..., Any]:
        assert function is not None

        @wraps(function)
        def timed(*args: Any, **kwargs: Any) -> Any:
            if self._is_running:
                return function(*args, **kwargs)
            self._is_running = True
            started = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                self.seconds += time.perf_counter() - started
                self._is_running = False

        return timed
