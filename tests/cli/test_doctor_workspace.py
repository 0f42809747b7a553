"""`mnemoir doctor` on project files: a damaged file is named and left unchanged."""

from mnemoir.cli.diagnosis import checks
from mnemoir.settings import load_settings


def file_of(root, project):
    path = root / project / ".etienne" / "memories.json"
    path.parent.mkdir(parents=True)
    return path


async def test_a_damaged_project_file_is_named_among_sound_ones(tmp_path):
    root = tmp_path / "work"
    file_of(root, "sound").write_text("[]")
    file_of(root, "torn").write_text('[{"id": "x"')
    given = {"storage.workspace_root": str(root), "storage.backend": "file"}
    settings = load_settings(None, given, environ={"HOME": str(tmp_path)})
    finding = await checks.check_workspace(settings)
    assert finding.state == "fail"
    assert "torn/.etienne/memories.json is damaged" in finding.found
    assert "sound/" not in finding.found
    assert (root / "torn" / ".etienne" / "memories.json").read_text() == '[{"id": "x"'
    (root / "torn" / ".etienne" / "memories.json").write_text("[]")
    assert (await checks.check_workspace(settings)).state == "ok"
