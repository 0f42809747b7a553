"""GetCurrentStateDocument: reads the state document that another program or a person writes."""

import pytest

from mnemoir.workflows.nodes.get_current_state_document import GetCurrentStateDocument
from tests.workflows.nodes.kept_memory import begun

NONE_YET = "No state document has been created yet"


def put(bench, content):
    """Set the discussion of the bench, with this state document."""
    file = begun(bench).root / "d1" / "state_document.md"
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    return file


async def test_the_document_is_returned_as_it_is(bench):
    put(bench, "\ufeff# Bées\n\n- likes {tea}\n".encode())
    assert await bench.run(GetCurrentStateDocument) == "# Bées\n\n- likes {tea}\n"


async def test_without_a_discussion_or_a_document_a_sentence_is_returned_and_no_file_is_made(bench):
    assert await bench.run(GetCurrentStateDocument) == NONE_YET
    place = begun(bench)
    assert await bench.run(GetCurrentStateDocument) == NONE_YET
    assert not place.root.exists()


@pytest.mark.parametrize("content", [b"", b" \n\t"])
async def test_a_blank_document_is_none(bench, content):
    put(bench, content)
    assert await bench.run(GetCurrentStateDocument) == NONE_YET


async def test_a_document_that_cannot_be_read_is_left_as_it_is_with_a_note(bench):
    file = put(bench, b"\xff\xfe\x00")
    assert await bench.run(GetCurrentStateDocument) == NONE_YET
    [note] = bench.step.trace.notes
    assert note.startswith("Memory was left out: d1/state_document.md is damaged")
    assert file.read_bytes() == b"\xff\xfe\x00"


async def test_a_link_is_not_followed_out_of_the_discussion(bench, tmp_path):
    (tmp_path / "secret.md").write_text("canary")
    file = put(bench, b"")
    file.unlink()
    file.symlink_to(tmp_path / "secret.md")
    assert await bench.run(GetCurrentStateDocument) == NONE_YET
