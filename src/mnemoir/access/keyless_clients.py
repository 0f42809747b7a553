"""The kinds of clients that called without a key in the last week: they stop working once one is needed.

They are kept in the cache of the data directory, by day: the kind, the product that it names itself, and a count. The
file is written every ten minutes, and at the end.
"""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import structlog

from mnemoir.core.atomic_file import replacing
from mnemoir.core.clock import Clock, from_text, to_text, utc_now
from mnemoir.storage.disk_files import prepare_folder

_KEPT = timedelta(days=7)
_WRITTEN_EVERY = timedelta(minutes=10)
_LONGEST_PRODUCT = 60
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeylessClient:
    """A kind of client, the product it named last, its last call, and its calls within the week."""

    name: str
    user_agent: str
    last_seen_at: str
    requests: int


class KeylessClients:
    """For one event loop. A damaged `file` is replaced."""

    def __init__(self, file: Path, clock: Clock = utc_now) -> None:
        self._file = file
        self._clock = clock
        self._products: dict[str, str] = {}
        self._days: dict[tuple[str, str], tuple[datetime, int]] = {}  # by kind and day in UTC
        self._written_at = clock()
        self._is_written = True
        self._writing: asyncio.Task[None] | None = None
        self._read()

    def note(self, name: str, agent: str) -> None:
        """Note a call of a kind of client, with its User-Agent."""
        now = self._clock()
        place = name, now.date().isoformat()
        self._days[place] = now, self._days.get(place, (now, 0))[1] + 1
        self._products[name] = _product(agent)
        self._is_written = False
        if now - self._written_at > _WRITTEN_EVERY and (self._writing is None or self._writing.done()):
            self._written_at = now
            self._writing = asyncio.create_task(self._write(), name="write clients without a key")

    def recent_clients(self) -> Sequence[KeylessClient]:
        """The kinds of the last seven days, latest first."""
        since, found = self._clock() - _KEPT, dict[str, tuple[datetime, int]]()
        for (name, _), (last_at, count) in self._days.items():
            if last_at > since:
                before = found.get(name, (last_at, 0))
                found[name] = max(last_at, before[0]), count + before[1]
        latest_first = sorted(found.items(), key=lambda item: item[1][0], reverse=True)
        return [
            KeylessClient(
                name=name, user_agent=self._products.get(name, ""), last_seen_at=to_text(last_at), requests=count
            )
            for name, (last_at, count) in latest_first
        ]

    def drop_old(self) -> None:
        """Forget calls of more than seven days ago; the file is written with the next call."""
        since = self._clock() - _KEPT
        self._days = {place: told for place, told in self._days.items() if told[0] > since}

    async def aclose(self) -> None:
        """Write what was noted last."""
        if self._writing is not None:
            await self._writing
        if not self._is_written:
            await self._write()

    async def _write(self) -> None:
        lines = [
            [name, self._products.get(name, ""), day, to_text(last_at), count]
            for (name, day), (last_at, count) in self._days.items()
        ]
        self._is_written = True
        try:
            await asyncio.to_thread(self._replace, json.dumps(lines).encode())
        except OSError as exc:
            _log.warning("clients without a key not written", cause=str(exc))

    def _replace(self, content: bytes) -> None:
        prepare_folder(self._file.parent)
        with replacing(self._file) as file:
            file.write(content)

    def _read(self) -> None:
        try:
            for name, product, day, last, count in json.loads(self._file.read_bytes()):
                last_at = from_text(last)
                if last_at is not None:
                    self._days[str(name), str(day)] = last_at, int(count)
                    self._products[str(name)] = str(product)
        except FileNotFoundError:
            return
        except (OSError, ValueError, TypeError) as exc:
            _log.warning("clients without a key not read", cause=str(exc))


def _product(agent: str) -> str:
    """The first product of a User-Agent, such as `curl/8.9`; it tells nothing of the machine."""
    first = agent.partition(" ")[0][:_LONGEST_PRODUCT]
    return first if first.isprintable() else ""
