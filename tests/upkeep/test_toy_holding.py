"""A holding that a test registers is exported, erased, counted, backed up, encrypted and expired like all others."""

import asyncio
import io
import json
import zipfile

import pytest

from mnemoir.app.parts import Parts, open_parts
from mnemoir.core.errors import SettingsError
from mnemoir.core.scope import Scope
from mnemoir.ports.holdings import OpenHolding
from mnemoir.settings import Settings
from mnemoir.storage.backups.copying import Copying
from mnemoir.storage.holdings import Holding, register
from mnemoir.storage.sql.tables import Table
from mnemoir.upkeep.backups import Choice, create_backup
from mnemoir.upkeep.holdings import opens
from mnemoir.upkeep.restoring import problems_in, restore_backup
from mnemoir.upkeep.subjects import Person
from tests.storage.sealing_kit import a_key
from tests.upkeep.cut_kit import ALL, MIRA, WORD, erase, holding_words, opened, seen, settings_of, tell
from tests.upkeep.toy_holding import notes_of, open_notes, registered, unregister

OWNER = Scope(project="default", user=MIRA)


@pytest.fixture(autouse=True)
def _registered():
    with registered():
        yield


@pytest.fixture
async def settings(tmp_path) -> Settings:
    made = settings_of(tmp_path / "data")
    await tell(made)
    return made


async def archive_of(parts: Parts) -> dict[str, bytes]:
    file = await parts.upkeep.subjects.export(Person(tenant="default", user=MIRA))
    with file, zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


async def test_its_rows_and_its_files_are_in_the_archive_of_a_person(settings):
    async with opened(settings) as parts:
        found = await archive_of(parts)
    (row,) = map(json.loads, io.BytesIO(found["projects/default/notes.jsonl"]))
    assert (row["text"], row["file"]) == (f"{WORD} note", "1.txt")
    assert found["projects/default/notes/1.txt"].decode() == row["text"]


async def test_it_is_counted_in_the_report_of_an_erasure_and_by_name_on_the_disk(settings):
    async with opened(settings) as parts:
        assert (await parts.chats.stock.amounts())["notes"] == 1
        shares = {share.name: share.size_bytes for share in (await parts.chats.stock.room()).shares or ()}
        erased = await parts.upkeep.subjects.erase(Person(tenant="default", user=MIRA))
    assert (shares["notes"], erased.counts["notes"]) == (len(f"{WORD} note"), 1)
    assert holding_words(settings.storage.data_dir, WORD) == {}


@pytest.mark.usefixtures("trusted_clock")
async def test_what_is_too_old_expires(settings):
    async with opened(settings) as parts:
        await notes_of(parts).write(OWNER, "Once", days=91)
        for is_rehearsal in (True, False):
            assert (await parts.upkeep.pruning.run(dry_run=is_rehearsal))["notes"] == 1
        assert await notes_of(parts).texts(OWNER) == [f"{WORD} note"]


async def test_forgetting_all_memories_takes_its_rows_and_files_along(settings):
    async with opened(settings) as parts:
        await parts.upkeep.forgetting.forget_memories(OWNER)
        assert await seen(parts, MIRA) == ((), ("talk",), ())
        assert holding_words(settings.storage.data_dir / "notes", WORD) == {}
        assert await parts.memory.database.read(None, lambda sql: sql.value("SELECT count(*) FROM notes")) == 0


async def test_a_backup_has_its_rows_and_the_files_they_refer_to(settings, tmp_path):
    await asyncio.to_thread(create_backup, settings, tmp_path / "backup", Choice())
    assert problems_in(tmp_path / "backup")[1] == []
    await asyncio.to_thread(lambda: restore_backup(tmp_path / "backup", tmp_path / "new", open_parts=open_parts))
    async with opened(settings_of(tmp_path / "new")) as parts:
        assert await seen(parts, MIRA) == ALL


async def test_its_files_are_copied_behind_its_rows(settings, tmp_path, monkeypatch):
    """What is written while a backup is made may be in it as a file without a row, never as a row without a file."""
    copied: list[str] = []

    def noting(copy):
        def noted(self, paths):
            paths = [*paths]
            copied.extend(paths)
            copy(self, paths)

        return noted

    for name in ("copy_databases", "copy_files"):
        monkeypatch.setattr(Copying, name, noting(getattr(Copying, name)))
    await asyncio.to_thread(create_backup, settings, tmp_path / "backup", Choice())
    assert copied.index("mnemoir.db") < copied.index("notes/default/mira.zanzibar/1.txt")


async def test_who_was_erased_since_is_not_in_what_is_restored(settings, tmp_path):
    await asyncio.to_thread(create_backup, settings, tmp_path / "backup", Choice())
    async with opened(settings) as parts:
        await erase(parts)
    live = settings.storage.data_dir
    await asyncio.to_thread(
        lambda: restore_backup(tmp_path / "backup", tmp_path / "new", live=live, open_parts=open_parts)
    )
    assert holding_words(tmp_path / "new", WORD) == {}


async def test_its_cells_are_encrypted_anew_and_decrypted(settings, tmp_path):
    (tmp_path / "kek").write_text(a_key())
    (tmp_path / "kek").chmod(0o600)
    data = settings.storage.data_dir
    for mode in ("fields", "off"):
        sealed = settings_of(data, **{"encryption.mode": mode, "encryption.key_file": str(tmp_path / "kek")})
        async with opened(sealed) as parts:
            await parts.upkeep.encryption.bring_up_to_date(
                parts.memory.database, parts.memory.packs, parts.chats.conversations
            )
            assert (await seen(parts, MIRA))[2] == (f"{WORD} note",)
        stored = (data / "mnemoir.db").read_bytes()
        assert (f"{WORD} note".encode() in stored) == (mode == "off")


def test_a_holding_without_a_name_or_with_one_of_another_is_refused_by_name():
    with pytest.raises(SettingsError, match="that of pictures, has no name"):
        register(Holding(name="", tables={"pictures": Table()}))
    with pytest.raises(SettingsError, match="two holdings named 'note'"):
        register(Holding(name="note"))
    with pytest.raises(SettingsError, match="The table notes of the holding 'other' is one of 'note'"):
        register(Holding(name="other", tables={"notes": Table()}))
    with pytest.raises(SettingsError, match="'note' is opened in two places"):
        opens(Holding(name="note"))(open_notes)


@pytest.mark.parametrize(
    ("is_registered", "opened_as", "cause"),
    [(False, "picture", "'picture' is opened and not registered"), (True, "other", "'picture' is opened as 'other'")],
)
async def test_a_program_with_a_holding_that_does_not_fit_does_not_start(tmp_path, is_registered, opened_as, cause):
    pictures = Holding(name="picture")
    if is_registered:
        register(pictures)
    opens(pictures)(lambda stores: OpenHolding(name=opened_as))
    try:
        with pytest.raises(SettingsError, match=cause):
            async with opened(settings_of(tmp_path / "data")):
                pass
    finally:
        unregister([pictures])
