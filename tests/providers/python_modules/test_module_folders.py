"""The files that may run as modules."""

import os

import pytest

from mnemoir.core.errors import SettingsError
from mnemoir.providers.python_modules.runner import ModuleFolders


@pytest.fixture
def places(public):
    return ModuleFolders([public.root / "modules"], public.root)


@pytest.fixture
def file(public):
    return public.write("def Invoke(): pass")


def test_a_path_may_be_relative_to_the_public_folder_or_the_one_around_it_or_absolute(places, file):
    for path in ("modules/tool.py", "Public/modules/tool.py", str(file), f"  {file} "):
        assert places.find(path) == file


def test_a_tilde_is_the_home_folder(places, file, public, monkeypatch):
    monkeypatch.setenv("HOME", str(public.root))
    assert places.find("~/modules/tool.py") == file


def test_a_folder_of_another_name_has_no_install_root_around_it(tmp_path):
    for name in ("tree", "public"):
        (tmp_path / name).mkdir()
    assert ModuleFolders([], tmp_path / "tree").import_roots == (tmp_path / "tree",)
    assert ModuleFolders([], tmp_path / "public").import_roots == (tmp_path, tmp_path / "public")


def test_folders_that_everyone_may_write_to_are_not_import_folders(places, public):
    public.root.parent.chmod(0o1777)
    assert places.import_roots == (public.root,)


@pytest.mark.parametrize("path", ["../../outside.py", "modules/../outside.py", "/etc/hostname", "outside.py"])
def test_a_path_outside_is_refused_whether_it_exists_or_not(places, public, path):
    (public.root.parent.parent / "outside.py").touch()
    with pytest.raises(SettingsError, match=rf"outside the directories .*\({public.root / 'modules'}\)"):
        places.find(path)


def test_a_symlink_that_leads_outside_is_refused(places, public, file, tmp_path):
    outside = tmp_path / "outside.py"
    outside.write_text("def Invoke(): pass")
    file.with_name("link.py").symlink_to(outside)
    with pytest.raises(SettingsError, match="outside the directories"):
        places.find("modules/link.py")


def test_a_symlink_that_stays_inside_is_followed(places, file):
    file.with_name("link.py").symlink_to(file)
    assert places.find("modules/link.py") == file


def test_an_allowed_directory_may_be_a_symlink_itself(public, file, tmp_path):
    (tmp_path / "link").symlink_to(public.root)
    assert ModuleFolders([tmp_path / "link"], tmp_path / "link").find("modules/tool.py") == file


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_a_file_that_everyone_may_write_to_is_refused(public, depth):
    file = public.write("def Invoke(): pass", "modules/deep/tool.py")
    place = (file, *file.parents)[depth]
    place.chmod(place.stat().st_mode | 0o002)
    with pytest.raises(SettingsError, match=f"chmod o-w {place}"):
        ModuleFolders([public.root / "modules"], public.root).find("modules/deep/tool.py")


def test_directories_above_the_allowed_one_do_not_matter(places, file, public):
    public.root.chmod(0o777)
    assert places.find("modules/tool.py") == file


def test_a_missing_file_is_named(places, file):
    with pytest.raises(SettingsError, match=f"no file {file.with_name('other.py')}"):
        places.find("modules/other.py")


@pytest.mark.parametrize("path", ["modules/tool.txt", "modules/folder.py", "modules/pipe.py"])
def test_only_regular_python_files_run(places, public, file, path):
    file.with_name("tool.txt").touch()
    file.with_name("folder.py").mkdir()
    os.mkfifo(file.with_name("pipe.py"))
    with pytest.raises(SettingsError, match="not a Python file"):
        places.find(path)


@pytest.mark.parametrize(
    "path", ["", "  ", "a\0b.py", "~nobody-of-that-name/x.py", "modules/" + "x" * 5000, "ab\nc.py"]
)
def test_an_invalid_path_is_refused_with_a_short_message(places, file, path):
    with pytest.raises(SettingsError) as refusal:
        places.find(path)
    assert len(refusal.value.message) < 600 + len(str(file))


def test_without_allowed_directories_nothing_runs(public, file):
    with pytest.raises(SettingsError, match=r"\(none\)"):
        ModuleFolders([], public.root).find(str(file))
