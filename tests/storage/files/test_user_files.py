"""Files that workflows read and write: whole, durable, and nowhere but where they may be."""

import asyncio
import os
import stat

import pytest

from mnemoir.core.errors import SettingsError
from mnemoir.storage.files.user_files import FileUserFiles


@pytest.fixture
def public(tmp_path):
    (tmp_path / "Public").mkdir()
    return tmp_path / "Public"


@pytest.fixture
def files(public):
    return FileUserFiles([public], public, closed=[public / "Configs"], most_bytes=100_000)


async def test_what_was_written_is_read_and_nothing_else_is_left(files, public):
    assert await files.write("a/ä.txt", "été\r\n") == str(public / "a/ä.txt")
    assert await files.read(str(public / "a/ä.txt")) == "été\r\n"
    assert os.listdir(public / "a") == ["ä.txt"]


async def test_a_file_that_is_not_there_is_none(files):
    assert await files.read("nothing.txt") is None
    assert await files.read("no/folder/nothing.txt") is None


async def test_a_mark_at_the_beginning_is_no_part_of_the_text(files, public):
    (public / "a.txt").write_bytes(b"\xef\xbb\xbftext")
    assert await files.read("a.txt") == "text"


async def test_the_name_is_found_in_any_case_and_the_exact_one_first(files, public):
    (public / "Notes.TXT").write_text("other")
    assert await files.read("notes.txt") == "other"
    (public / "notes.txt").write_text("exact")
    assert await files.read("notes.txt") == "exact"


async def test_a_path_may_begin_at_the_home_directory(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "a.txt").write_text("home")
    assert await FileUserFiles([tmp_path], tmp_path / "elsewhere").read("~/a.txt") == "home"


async def test_appending_goes_to_the_end_of_a_new_file_or_an_old_one(files, public):
    for text in ("one", "two"):
        assert await files.append("log/a.txt", text) == str(public / "log/a.txt")
    assert (public / "log/a.txt").read_text() == "onetwo"


async def test_a_new_file_is_private_and_an_old_one_keeps_its_rights(files, public):
    await files.write("new.txt", "x")
    (public / "old.txt").touch()
    (public / "old.txt").chmod(0o664)
    await files.write("old.txt", "x")
    modes = [stat.S_IMODE((public / name).stat().st_mode) for name in ("new.txt", "old.txt")]
    assert modes == [0o600, 0o664]


async def test_many_writers_at_once_leave_one_whole_text(files, public):
    texts = [str(n) * 20_000 for n in range(8)]
    await asyncio.gather(*(files.write("a.txt", text) for text in texts))
    assert (public / "a.txt").read_text() in texts
    await asyncio.gather(*(files.append("b.txt", text + "\n") for text in texts))
    assert sorted((public / "b.txt").read_text().split()) == texts


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("../outside.txt", "outside the directories"),
        ("a/../../outside.txt", "outside the directories"),
        ("/etc/passwd", "outside the directories"),
        ("", "no path"),
        (".", "outside the directories"),
        ("Configs/Endpoints/a.json", "outside the directories"),
        ("configs/../Configs/a.json", "outside the directories"),
        ("D:\\Temp\\x.txt", "written for Windows"),
        ("D:/Temp/x.txt", "written for Windows"),
        ("..\\outside.txt", "written for Windows"),
        ("\\\\server\\share", "written for Windows"),
        ("C:x", "written for Windows"),
        ("a\0.txt", "control characters"),
        ("a\nb.txt", "control characters"),
        ("\ud800.txt", "control characters"),
        ("file:///etc/passwd", "an address"),
        ("http://x/y", "an address"),
        ("~nobody-of-this-name/x", "home directory"),
    ],
)
async def test_a_path_that_leads_elsewhere_is_refused_for_reading_and_writing(files, public, path, told):
    for use in (files.read(path), files.write(path, "x"), files.append(path, "x")):
        with pytest.raises(SettingsError, match=told):
            await use
    assert os.listdir(public) == []
    assert os.listdir(public.parent) == ["Public"]


@pytest.mark.parametrize("path", ["%2e%2e%2fx", "x.", "CON", "-rf", "@x", "\u202egpj.exe", "x" * 200])
async def test_an_odd_name_is_only_a_name(files, public, path):
    await files.write(path, "x")
    assert os.listdir(public) == [path]


async def test_a_name_too_long_is_told_as_the_system_tells_it(files):
    with pytest.raises(OSError, match="File name too long"):
        await files.write("x" * 300, "x")


async def test_a_link_that_leads_out_is_not_followed(files, public, tmp_path):
    (tmp_path / "secret.txt").write_text("secret")
    (public / "link.txt").symlink_to(tmp_path / "secret.txt")
    (public / "folder").symlink_to(tmp_path)
    for path in ("link.txt", "LINK.txt", "folder/secret.txt", "folder/new.txt"):
        with pytest.raises(SettingsError, match="outside the directories"):
            await files.read(path)
    with pytest.raises(SettingsError, match="outside the directories"):
        await files.write("folder/secret.txt", "x")
    assert (tmp_path / "secret.txt").read_text() == "secret"


async def test_a_link_that_stays_inside_is_followed(files, public):
    (public / "a.txt").write_text("old")
    (public / "link.txt").symlink_to("a.txt")
    await files.write("link.txt", "new")
    assert (public / "a.txt").read_text() == "new"
    assert (public / "link.txt").is_symlink()


async def test_a_root_may_itself_be_a_link(tmp_path, public):
    (tmp_path / "root").symlink_to(public)
    await FileUserFiles([tmp_path / "root"], tmp_path / "root").write("a.txt", "x")
    assert (public / "a.txt").read_text() == "x"


async def test_what_is_no_text_or_no_file_is_a_failure(files, public):
    (public / "folder").mkdir()
    os.mkfifo(public / "pipe")
    (public / "latin").write_bytes(b"\xe9t\xe9")
    (public / "large").write_bytes(bytes(100_001))
    for name in ("folder", "pipe", "latin", "large"):
        with pytest.raises(OSError, match=r"Invalid argument|UTF-8|more than 100000 bytes"):
            await files.read(name)
    with pytest.raises(OSError, match="cannot be written as UTF-8"):
        await files.write("a.txt", "\ud800")
