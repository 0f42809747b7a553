"""Times of discussions in files that other programs write too."""

import asyncio
import json

import pytest

from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.discussions.timestamps import FileTimestamps
from tests.storage.discussions.ledger_kit import called

NOON = "(Friday, 2026-11-20 12:00:00)"
LATER = "(Friday, 2026-11-20 16:58:30)"


@pytest.fixture
def root(tmp_path):
    return tmp_path / "DiscussionIds"


@pytest.fixture
def store():
    return FileTimestamps()


async def write(store, root, discussion="d1", **times):
    async with store.changing(called(root, discussion)) as known:
        known.update(times)


async def test_a_new_discussion_knows_no_times_and_looking_makes_no_file(store, root):
    assert await store.load(called(root)) == {}
    async with store.changing(called(root)):
        pass
    assert not root.exists()


async def test_times_are_kept_in_a_folder_of_the_discussion(store, root):
    await write(store, root, a=NOON)
    assert (root / "d1" / "timestamps.json").read_text() == f'{{\n    "a": "{NOON}"\n}}'
    assert await FileTimestamps().load(called(root)) == {"a": NOON}
    assert await store.load(called(root, "D1")) == {}


async def test_a_file_in_the_old_place_is_read_and_written_there(store, root):
    root.mkdir()
    (root / "d1_timestamps.json").write_text(json.dumps({"a": NOON}))
    await write(store, root, b=LATER)
    assert json.loads((root / "d1_timestamps.json").read_text()) == {"a": NOON, "b": LATER}
    assert not (root / "d1").exists()


async def test_the_new_place_wins_over_the_old_one(store, root):
    (root / "d1").mkdir(parents=True)
    (root / "d1" / "timestamps.json").write_text(json.dumps({"a": LATER}))
    (root / "d1_timestamps.json").write_text(json.dumps({"a": NOON}))
    assert await store.load(called(root)) == {"a": LATER}


async def test_a_discussion_called_like_an_old_file_is_not_mistaken_for_one(store, root):
    await write(store, root, "d1_timestamps.json", a=NOON)
    await write(store, root, "d1", b=LATER)
    assert await store.load(called(root, "d1_timestamps.json")) == {"a": NOON}
    assert await store.load(called(root)) == {"b": LATER}


async def test_times_can_be_taken_away(store, root):
    await write(store, root, a=NOON, b=LATER)
    async with store.changing(called(root)) as times:
        del times["a"]
    assert await store.load(called(root)) == {"b": LATER}


async def test_nothing_is_written_when_the_change_fails(store, root):
    async def fail():
        async with store.changing(called(root)) as times:
            times["a"] = NOON
            raise LookupError

    with pytest.raises(LookupError):
        await fail()
    assert await store.load(called(root)) == {}


async def test_fifty_changes_at_once_all_stay(store, root):
    async def change(number):
        async with store.changing(called(root)) as times:
            await asyncio.sleep(0)
            times[str(number)] = str(len(times))

    await asyncio.gather(*(change(number) for number in range(50)))
    times = await store.load(called(root))
    assert sorted(times.values(), key=int) == [str(number) for number in range(50)]


async def test_what_another_program_added_meanwhile_stays(store, root):
    await write(store, root, a=NOON)
    async with store.changing(called(root)) as times:
        await write(FileTimestamps(), root, b=LATER)
        times["c"] = NOON
    assert await store.load(called(root)) == {"a": NOON, "b": LATER, "c": NOON}


async def test_members_that_are_no_times_are_kept(store, root):
    (root / "d1").mkdir(parents=True)
    (root / "d1" / "timestamps.json").write_text('\ufeff{"version": 2, "a": null}', encoding="utf-8")
    await write(store, root, b=NOON)
    assert json.loads((root / "d1" / "timestamps.json").read_bytes()) == {"version": 2, "a": None, "b": NOON}
    assert await store.load(called(root)) == {"b": NOON}


@pytest.mark.parametrize("text", ["{", "[]", "null", '{"a": "' + NOON, "[" * 100_000])
async def test_a_damaged_file_is_refused_and_left_as_it_is(store, root, text):
    (root / "d1").mkdir(parents=True)
    (root / "d1" / "timestamps.json").write_text(text)
    with pytest.raises(StorageUnavailable, match=r"d1/timestamps\.json is damaged"):
        await store.load(called(root))
    with pytest.raises(StorageUnavailable, match="is damaged"):
        await write(store, root, a=NOON)
    assert (root / "d1" / "timestamps.json").read_text() == text


@pytest.mark.parametrize("link", ["d1", "d1/timestamps.json", "d1_timestamps.json"])
async def test_a_link_to_another_place_is_neither_read_nor_written_through(store, root, tmp_path, link):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "timestamps.json").write_text(json.dumps({"a": NOON}))
    (root / link).parent.mkdir(parents=True)
    (root / link).symlink_to(outside if link == "d1" else outside / "timestamps.json")
    with pytest.raises(StorageUnavailable, match="links"):
        await store.load(called(root))
    with pytest.raises(StorageUnavailable, match="links"):
        await write(store, root, b=LATER)
    assert {path.name: path.read_text() for path in outside.iterdir()} == {"timestamps.json": json.dumps({"a": NOON})}


@pytest.mark.parametrize("id", ["../x", "/etc/x", "x\0", "..", ".", "", "a" * 300, "CON", "x.", "\u202ex", "\ud800"])
async def test_a_hostile_id_has_a_file_inside_the_root(store, root, tmp_path, id):
    await write(store, root, id, a=NOON)
    assert await store.load(called(root, id)) == {"a": NOON}
    assert [path.name for path in tmp_path.iterdir()] == ["DiscussionIds"]
    assert [path.name for path in root.glob("*/timestamps.json")] == ["timestamps.json"]


async def test_no_temporary_file_stays(store, root):
    await write(store, root, a=NOON)
    await write(store, root, b=NOON)
    assert sorted(path.name for path in (root / "d1").iterdir()) == ["timestamps.json", "timestamps.json.lock"]


async def test_a_disk_that_does_not_take_the_file_is_told(store, root):
    root.parent.mkdir(exist_ok=True)
    root.write_text("a file where the folder should be")
    with pytest.raises(StorageUnavailable, match=r"d1/timestamps\.json could not be"):
        await write(store, root, a=NOON)
