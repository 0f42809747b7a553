"""Counts of stored data and its size on disk, computed in the background and cached, so that pages load fast."""

import asyncio
import os
import shutil
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from datetime import date, timedelta
from pathlib import Path

from mnemoir.core.atomic_file import probe_folder
from mnemoir.core.cached import Cached
from mnemoir.core.clock import now_text, utc_now
from mnemoir.core.errors import StorageUnavailable
from mnemoir.ports.holdings import DAILY_DAYS, Amounts, ByDay, OpenHolding
from mnemoir.settings import Settings
from mnemoir.storage.holdings import declared_files
from mnemoir.storage.size_limit import os_size_error, refuse_short_files
from mnemoir.storage.sql.ageing import SqlStamps, Stamp
from mnemoir.trees.served import place_of

_MEASURE_AGAIN_S = 300.0  # the folders of a thousand users are many files
_LOOK_FOR_DAMAGE_AGAIN_S = 5.0
_WRITE_AGAIN_S = 1.0
_COUNT_DAYS_AGAIN_S = 60.0
_PATIENCE_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Counts over all users. Of `embeddable` messages `embedded` have a vector.

    None means that the first count has not finished.
    """

    projects: int | None
    users: int | None
    memories: int | None
    conversations: int | None
    messages: int | None
    embeddable: int | None
    embedded: int | None
    runs: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """What was added on a UTC day, over all users, as far as it is still stored; of runs their tokens.

    None means that the first count has not finished.
    """

    day: str
    memories: int | None = None
    messages: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """The size of one part of the stored data."""

    name: str
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """The size of the data on disk. `shares` are None until measured; figures of the disk are None when unknown."""

    backend: str
    data_dir: str
    writable: bool
    free_bytes: int | None
    disk_bytes: int | None
    shares: list[Share] | None
    measured_at: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Measured:
    shares: list[Share]
    at: str


class Stock:
    """Counts the data of every holding and measures the files of one server. `stamps` are rows of its database."""

    def __init__(
        self,
        settings: Settings,
        holdings: Sequence[OpenHolding],
        find_damaged: Callable[[], Awaitable[list[str]]],
        stamps: SqlStamps,
    ) -> None:
        self._settings = settings
        self._stamps = stamps
        self._damaged = Cached(find_damaged, for_s=_LOOK_FOR_DAMAGE_AGAIN_S)
        self._written = Cached(self.check_writes, for_s=_WRITE_AGAIN_S)
        self._holdings = holdings
        self._counted: dict[str, Cached[Amounts]] = {}
        self._daily: dict[str, Cached[Mapping[str, ByDay]]] = {}
        self._sizes = Cached(self._measure, for_s=_MEASURE_AGAIN_S)

    async def counts(self) -> Counts:
        """The counts of some seconds ago. Raises StorageUnavailable."""
        return counts_of(await self.amounts())

    async def amounts(self) -> Amounts:
        """The counts of all holdings by name, without those whose first count has not finished."""
        counting = [
            self._cache_of(holding).get(patience_s=_PATIENCE_S)
            for holding in self._holdings
            if holding.counts is not None
        ]
        return {name: number for found in await asyncio.gather(*counting) for name, number in (found or {}).items()}

    async def growth(self) -> list[Day]:
        """What was added on each of the last days, oldest first, as of a minute ago. Raises StorageUnavailable."""
        asked = [
            self._daily_of(holding).get(patience_s=_PATIENCE_S)
            for holding in self._holdings
            if holding.daily is not None
        ]
        found = {name: by_day for each in await asyncio.gather(*asked) for name, by_day in (each or {}).items()}
        first = _first_day()
        return [_day_of(found, (first + timedelta(days=place)).isoformat()) for place in range(DAILY_DAYS)]

    async def room(self) -> Room:
        """The size on disk of some minutes ago, and the free space now."""
        storage = self._settings.storage
        place, (free, whole) = await asyncio.to_thread(_disk, storage.data_dir)
        measured = await self._sizes.get(patience_s=_PATIENCE_S)
        return Room(
            backend=storage.backend,
            data_dir=str(storage.data_dir),
            writable=os.access(place, os.W_OK | os.X_OK),
            free_bytes=free,
            disk_bytes=whole,
            shares=None if measured is None else measured.shares,
            measured_at=None if measured is None else measured.at,
        )

    async def damaged_files(self) -> list[str]:
        """The files that are gone or damaged, as of some seconds ago; [] before the first look has ended."""
        return await self._damaged.get(patience_s=_PATIENCE_S) or []

    async def check_writes(self) -> None:
        """Write a few bytes to each folder that holds memories, and to the database; raises StorageUnavailable.

        A file that may not grow takes no change, whatever room the disk has.
        """
        refuse_short_files()
        storage = self._settings.storage
        folders = [storage.data_dir, *([storage.workspace_root] if storage.backend == "file" else [])]
        for folder in folders:
            await asyncio.to_thread(_write_to, folder)
        await self._stamps.write(Stamp.PROBED, utc_now())

    async def check_recent_writes(self) -> None:
        """The same as of a second ago at most, for who asks often: a disk that refuses is asked again at once."""
        refuse_short_files()
        await self._written.get(patience_s=_PATIENCE_S)

    async def aclose(self) -> None:
        """Stop counting; a running thread finishes its current step."""
        for counted in self._counted.values():
            await counted.aclose()
        for added in self._daily.values():
            await added.aclose()
        await self._sizes.aclose()
        await self._damaged.aclose()
        await self._written.aclose()

    def _cache_of(self, holding: OpenHolding) -> Cached[Amounts]:
        assert holding.counts is not None
        return self._counted.setdefault(holding.name, Cached(holding.counts, for_s=holding.counts_last_s))

    def _daily_of(self, holding: OpenHolding) -> Cached[Mapping[str, ByDay]]:
        daily = holding.daily
        assert daily is not None
        return self._daily.setdefault(holding.name, Cached(lambda: daily(_first_day()), for_s=_COUNT_DAYS_AGAIN_S))

    async def _measure(self) -> _Measured:
        shares = await asyncio.to_thread(_shares, self._settings)
        return _Measured(shares=shares, at=now_text())


def counts_of(amounts: Amounts) -> Counts:
    """The amounts that `Counts` names."""
    return Counts(**{member.name: amounts.get(member.name) for member in fields(Counts)})


def _first_day() -> date:
    """The first of the last days, in UTC."""
    return utc_now().date() - timedelta(days=DAILY_DAYS - 1)


def _day_of(found: Mapping[str, ByDay], day: str) -> Day:
    named = {member.name for member in fields(Day)} & found.keys()
    return Day(day=day, **{name: found[name].get(day, 0) for name in named})


def _shares(settings: Settings) -> list[Share]:
    """The non-empty parts of the data directory and of other folders that the settings name."""
    root, sizes, inside = settings.storage.data_dir, Counter[str](), 0
    for files in declared_files():
        if files.share is not None:
            place = place_of(settings, files.path)
            size = size_of(place) if place.is_dir() else _size_of_database(place)
            sizes[files.share] += size
            inside += size if root in place.parents else 0
    if settings.storage.backend == "file":
        sizes["project files"] = size_of(settings.storage.workspace_root)
    if settings.memory.vector_store.persist_directory is not None:
        sizes["vectors"] = size_of(settings.memory.vector_store.persist_directory)
    sizes["other"] = max(0, size_of(root) - inside)
    return [Share(name=name, size_bytes=size) for name, size in sizes.items() if size]


def size_of(folder: Path) -> int:
    """The bytes of all files in a folder; 0 for one that is not there. Blocks."""
    return sum(_sizes_below(str(folder)))


def _sizes_below(folder: str) -> Iterator[int]:
    """The sizes of all files in a folder; links are not followed, files deleted meanwhile are skipped."""
    waiting = [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    elif entry.is_file(follow_symlinks=False):
                        yield entry.stat(follow_symlinks=False).st_size
        except OSError:
            continue


def _size_of_database(path: Path) -> int:
    """The bytes of a file, and of the log and its index beside it."""
    size = 0
    for ending in ("", "-wal", "-shm"):
        with suppress(OSError):
            size += path.with_name(path.name + ending).stat().st_size
    return size


def _write_to(folder: Path) -> None:
    try:
        probe_folder(_nearest_folder(folder))  # a workspace is made with its first file
    except OSError as exc:
        if (error := os_size_error(str(folder), exc)) is not None:
            raise error from exc
        raise StorageUnavailable(
            f"{folder} could not be written: {exc.strerror or exc}. Free some space, or look at the disk."
        ) from exc


def _nearest_folder(folder: Path) -> Path:
    """The folder, or its nearest parent that is there."""
    return next(one for one in (folder, *folder.parents) if one.exists())


def _disk(folder: Path) -> tuple[Path, tuple[int | None, int | None]]:
    """The folder or its nearest existing parent, and the free and total bytes of its disk."""
    place = _nearest_folder(folder)
    try:
        usage = shutil.disk_usage(place)
    except OSError:
        return place, (None, None)
    return place, (usage.free, usage.total)
