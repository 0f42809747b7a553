"""An erasure or an adoption that is cut at any holding ends whole when it is repeated."""

import asyncio
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mnemoir.chats import conversation_folders, user_folders
from mnemoir.core.errors import MnemoirError, StorageUnavailable
from mnemoir.core.scope import Scope
from mnemoir.server import ServerOptions, create_app
from mnemoir.settings import Settings
from mnemoir.storage.holdings import holdings
from mnemoir.storage.sql.adoptions import Adoptions
from mnemoir.storage.sql.people import People
from mnemoir.upkeep.encryption import Encryption
from tests.server.server_kit import Server
from tests.storage.sealing_kit import a_key
from tests.upkeep.cut_kit import (
    ADOPTIONS,
    ALL,
    ANNA,
    ERASING,
    ERASING_PEOPLE,
    ERASURES,
    GIVING,
    MIRA,
    NOTHING,
    WORD,
    Cut,
    adopt,
    anna_of,
    cut,
    erase,
    holding_words,
    opened,
    seen,
    settings_of,
    tell,
)
from tests.upkeep.toy_holding import registered

_CHECKOUT = Path(__file__).parents[2]


def end() -> None:
    raise Cut


@pytest.fixture(autouse=True)
def _registered():
    with registered():
        yield


@pytest.fixture(scope="module")
def told(tmp_path_factory) -> Path:
    """A data directory with two people, to be copied."""
    folder: Path = tmp_path_factory.mktemp("told")
    with registered():
        asyncio.run(tell(settings_of(folder / "data")))
    return folder / "data"


@pytest.fixture
def settings(told, tmp_path) -> Settings:
    shutil.copytree(told, tmp_path / "data")
    return settings_of(tmp_path / "data")


async def test_every_holding_is_cut_here(settings):
    assert {holding.name for holding in holdings()} == {*ERASING, *ERASING_PEOPLE, "model"}
    async with opened(settings) as parts:
        assert {holding.name for holding in parts.upkeep.holdings if holding.erase_person} == {*ERASING_PEOPLE}
        assert {holding.name for holding in parts.upkeep.holdings if holding.giving} == {*GIVING}


@pytest.mark.parametrize("point", ERASURES, ids=str)
async def test_an_erasure_that_was_cut_leaves_nothing_when_it_is_repeated(settings, point):
    async with opened(settings) as parts:
        assert await seen(parts, MIRA) == ALL
        cut(parts, point, end)
        with pytest.raises(Cut):
            await erase(parts)
    async with opened(settings) as parts:
        await erase(parts)
    assert holding_words(settings.storage.data_dir, MIRA, WORD) == {}


@pytest.mark.parametrize(("of", "step"), [(People, "drop"), (Encryption, "destroy_keys")])
@pytest.mark.parametrize("side", ["before", "behind"])
async def test_the_frame_of_an_erasure_is_repeated_too_and_no_key_is_left(tmp_path, monkeypatch, of, step, side):
    (tmp_path / "kek").write_text(a_key())
    (tmp_path / "kek").chmod(0o600)
    sealed = {"encryption.mode": "fields", "encryption.key_file": str(tmp_path / "kek")}
    settings, work = settings_of(tmp_path / "data", **sealed), getattr(of, step)
    await tell(settings)

    def cut_step(self, *given):
        if side == "before":
            raise Cut
        done = work(self, *given)
        if step == "destroy_keys":
            raise Cut
        return cut_behind(done)

    async def cut_behind(done):
        await done
        raise Cut

    async with opened(settings) as parts:
        monkeypatch.setattr(of, step, cut_step)
        with pytest.raises(Cut):
            await erase(parts)
        monkeypatch.undo()
    async with opened(settings) as parts:
        await erase(parts)
        assert parts.upkeep.encryption.owners_of_name("default", MIRA) == []
    assert holding_words(settings.storage.data_dir, MIRA, WORD) == {}


@pytest.mark.parametrize("point", ADOPTIONS, ids=str)
async def test_a_project_is_given_as_a_whole_or_not_at_all_and_wholly_when_it_is_repeated(settings, point):
    async with opened(settings) as parts:
        cut(parts, point, end)
        with pytest.raises(Cut):
            await adopt(parts)
        assert await seen(parts, ANNA) == (ALL if point.side == "after" else NOTHING)
        assert await seen(parts, MIRA) == (NOTHING if point.side == "after" else ALL)
    async with opened(settings) as parts:
        await adopt(parts)
        assert (await seen(parts, ANNA), await seen(parts, MIRA)) == (ALL, NOTHING)
    assert holding_words(settings.storage.data_dir, MIRA).get(MIRA, []) == [
        str(settings.storage.data_dir / name) for name in ("access.db",)
    ]


async def test_what_cannot_be_taken_back_is_hidden_until_the_adoption_is_repeated(settings, monkeypatch):
    rename, renames = conversation_folders.rename, list[Path]()

    def failing_rename(old: Path, new: Path) -> None:
        renames.append(old)
        if len(renames) > 1:
            raise StorageUnavailable("The disk is away.")
        rename(old, new)

    async with opened(settings) as parts:
        monkeypatch.setattr(user_folders, "rename", failing_rename)
        cut(parts, ADOPTIONS[-2], end)  # behind the conversations
        with pytest.raises(StorageUnavailable, match="The disk is away"):
            await adopt(parts)
        monkeypatch.undo()
        assert await seen(parts, ANNA) == NOTHING
        for user in (ANNA, MIRA):
            with pytest.raises(StorageUnavailable, match="Repeat it with `mnemoir users adopt`"):
                await parts.chats.conversations.exist(Scope(project="default", user=user))
    async with opened(settings) as parts:
        assert await seen(parts, ANNA) == NOTHING
        done = await parts.upkeep.adoption.adopt(anna_of(parts), MIRA)
        assert done.projects == {"note": ["default"], "conversation": ["default"], "rows": ["default"]}
        assert (await seen(parts, ANNA), await seen(parts, MIRA)) == (ALL, NOTHING)


async def test_nobody_is_erased_before_an_adoption_that_was_cut_has_ended(settings, monkeypatch):
    async def fail(self, adoption):
        raise StorageUnavailable("The disk is away.")

    async with opened(settings) as parts:
        monkeypatch.setattr(Adoptions, "finish", fail)
        monkeypatch.setattr(user_folders, "rename", _only_once(conversation_folders.rename))
        for attempt in (adopt, erase):
            with pytest.raises(StorageUnavailable):
                await attempt(parts)
        assert await seen(parts, MIRA) == (ALL[0], (), ALL[2])  # what was moved is hidden, all else is there
        monkeypatch.undo()
        await erase(parts)
        assert (await seen(parts, ANNA), await seen(parts, MIRA)) == (ALL, NOTHING)


async def test_an_adoption_that_was_cut_is_taken_back_from_one_who_got_memories_since(settings, monkeypatch):
    async with opened(settings) as parts:
        cut(parts, ADOPTIONS[-2], end)
        monkeypatch.setattr(user_folders, "rename", _only_once(conversation_folders.rename))
        with pytest.raises(StorageUnavailable):
            await adopt(parts)
        monkeypatch.undo()
        server = Server(app=create_app(parts, ServerOptions(is_in_process=True)), parts=parts)
        said = {"messages": [{"role": "user", "content": "Rows"}], "user_id": ANNA, "infer": False}
        await server.post("/api/memories", said)
    async with opened(settings) as parts:
        with pytest.raises(MnemoirError) as refused:
            await adopt(parts)
        assert refused.value.code == "memories_exist"
        assert (await seen(parts, MIRA), (await seen(parts, ANNA))[1]) == (ALL, ())


def _only_once(rename):
    left = iter([True])

    def renamed(old: Path, new: Path) -> None:
        if next(left, None) is None:
            raise StorageUnavailable("The disk is away.")
        rename(old, new)

    return renamed


@pytest.mark.slow
@pytest.mark.parametrize(("what", "points"), [("erase", ERASURES), ("adopt", ADOPTIONS)])
def test_a_program_that_is_killed_at_any_holding_ends_the_work_when_it_is_repeated(tmp_path, what, points):
    command = [sys.executable, "-m", "tests.upkeep.killed_program", str(tmp_path), what]
    done = subprocess.run(command, cwd=_CHECKOUT, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] == str(len(points))
