"""A program of its own that lets backups die at each step.

`python -m tests.upkeep.backup_program <folder> [most kept]`

Prints how many deaths left the old backup or the new one, and were made good by the next backup.
"""

import asyncio
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from mnemoir.settings import Settings, load_settings
from mnemoir.storage.backups.checks import problems_of
from mnemoir.storage.backups.manifest import DATA_FOLDER, MANIFEST_FILE
from mnemoir.storage.sqlite import open_database
from mnemoir.upkeep.backups import Choice, create_backup, create_kept_backup
from mnemoir.upkeep.restoring import problems_in

_DIED = 9
_STEPS = {"open", "os.mkdir", "os.rename", "os.link", "os.remove", "os.rmdir", "fcntl.flock"}
_NAME = "backup"
Create = Callable[[Settings, Path], object]


def deaths(folder: Path, create: Create) -> int:
    """Die at each step in turn; the number of deaths."""
    count = 0
    while True:
        place = folder / str(count)
        settings = _made(place)
        _run(partial(create, settings, place / _NAME))
        (place / "data/word").write_text("new")
        if not _run(partial(create, settings, place / _NAME), die_at=count + 1):
            return count
        left = [_word(backup) for backup in _whole(place)]
        assert left, "no backup is left"
        assert set(left) <= {"old", "new"}, "a backup is neither the old one nor the new one"
        seen = [path for path in (place / _NAME, *place.glob(f"{_NAME}/2*")) if (path / MANIFEST_FILE).exists()]
        assert [problem for path in seen for problem in problems_of(path)] == []
        assert not _run(partial(create, settings, place / _NAME)), "the next backup fails"
        backup, problems = problems_in(place / _NAME)
        assert (problems, _word(backup)) == ([], "new")
        assert not [path for path in place.rglob(".*") if path.is_dir()], "something is left over"
        count += 1


def _made(place: Path) -> Settings:
    data = place / "data"
    database = open_database(data / "mnemoir.db")
    asyncio.run(database.aclose())
    (data / "word").write_text("old")
    (data / "same").write_text("same")
    return load_settings(None, {"storage.data_dir": data}, environ={"HOME": str(place)})


def _whole(place: Path) -> Iterator[Path]:
    """Whatever passes the check, under any name."""
    for found in place.rglob(MANIFEST_FILE):
        if not list(problems_of(found.parent)):
            yield found.parent


def _word(backup: Path) -> str:
    return (backup / DATA_FOLDER / "word").read_text()


def _run(work: Callable[[], object], die_at: int = 0) -> bool:
    """Run the work in a child that dies at that step, from 1; whether it died there."""
    child = os.fork()
    if not child:
        _arm(die_at)
        work()
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, _DIED)
    return code == _DIED


def _arm(die_at: int) -> None:
    seen = 0

    def look(event: str, args: tuple[object, ...]) -> None:
        nonlocal seen
        seen += event in _STEPS
        if die_at and seen == die_at:
            os._exit(_DIED)

    sys.addaudithook(look)


def main() -> None:
    folder, *most = sys.argv[1:]
    if most:
        print(deaths(Path(folder), lambda settings, to: create_kept_backup(settings, to, Choice(), int(most[0]))))
    else:
        print(deaths(Path(folder), lambda settings, to: create_backup(settings, to, Choice())))


if __name__ == "__main__":
    main()
