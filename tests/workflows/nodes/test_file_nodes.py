"""GetCustomFile and SaveCustomFile."""

import asyncio
import os

import pytest
from structlog.testing import capture_logs

from mnemoir.core.errors import SettingsError
from mnemoir.workflows.config.lookup import stamp_of
from mnemoir.workflows.nodes.get_custom_file import GetCustomFile
from mnemoir.workflows.nodes.save_custom_file import SaveCustomFile


@pytest.fixture
def notes(bench):
    bench.public.mkdir()
    return bench.public / "notes.txt"


async def test_a_file_is_read_by_a_path_with_variables(bench, notes):
    notes.write_text("one\ntwo\n")
    bench.variables = {"name": "NOTES"}
    assert await bench.run(GetCustomFile, filepath=" {name}.txt\n") == "one\ntwo\n"


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ({}, "a--b\nc"),
        ({"delimiter": "--"}, "a--b\nc"),
        ({"delimiter": "--", "customReturnDelimiter": "; "}, "a; b\nc"),
        ({"customReturnDelimiter": "; "}, "a--b\nc"),
        ({"delimiter": "", "customReturnDelimiter": "; "}, "a--b\nc"),
        ({"delimiter": "--", "customReturnDelimiter": ""}, "a--b\nc"),
    ],
)
async def test_delimiters_are_replaced_when_both_are_there(bench, notes, said, text):
    notes.write_text("a--b\nc")
    assert await bench.run(GetCustomFile, filepath="notes.txt", **said) == text


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ({"headCount": 2}, "a\nb"),
        ({"tailCount": 2}, "c\nd"),
        ({"tailCount": "{count}"}, "d"),
        ({"headCount": 9}, "a\nb\nc\nd"),
        ({"headCount": 0}, "a\nb\nc\nd\n"),
        ({"headCount": "many"}, "a\nb\nc\nd\n"),
        ({"headCount": 1, "chunkDelimiter": "c"}, "a\nb\n"),
        ({"tailCount": 2, "delimiter": "\n", "customReturnDelimiter": ", "}, "c, d"),
    ],
)
async def test_only_the_first_or_last_pieces_can_be_asked_for(bench, notes, said, text):
    notes.write_text("a\nb\nc\nd\n")
    bench.variables = {"count": 1}
    assert await bench.run(GetCustomFile, filepath="notes.txt", **said) == text


async def test_a_file_without_text_gives_a_sentence(bench, notes):
    assert await bench.run(GetCustomFile) == "No filepath specified"
    assert await bench.run(GetCustomFile, filepath="notes.txt") == "Custom instruction file did not exist"
    notes.write_text("")
    assert await bench.run(GetCustomFile, filepath="notes.txt") == "No additional information added"


@pytest.mark.parametrize(
    ("path", "note", "reason"),
    [
        ("absent.txt", "There is no file absent.txt.", "no such file"),
        ("notes.txt", "The file notes.txt could not be read: it is not UTF-8 text.", "it is not UTF-8 text"),
        ("../elsewhere.txt", "The file ../elsewhere.txt lies outside the directories", "not allowed"),
        ("D:\\temp\\x.txt", "The path D:\\temp\\x.txt is written for Windows", "not allowed"),
        ("/data/x.txt", "The file /data/x.txt lies outside the directories", "not allowed"),
    ],
)
async def test_a_file_that_cannot_be_read_gives_a_sentence_a_note_and_one_warning(bench, notes, path, note, reason):
    notes.write_bytes(b"\xff\xfe\x00")
    with capture_logs() as logs:
        assert await bench.run(GetCustomFile, filepath=path) == "Custom instruction file did not exist"
    assert [told[: len(note)] for told in bench.step.trace.notes] == [note]
    warnings = [(log["event"], log["node"], log["reason"]) for log in logs if log["log_level"] == "warning"]
    assert warnings == [("custom file not read", "tested", reason)]


@pytest.mark.parametrize("where", ["", "../", "/elsewhere/", "D:\\notes\\"])
async def test_the_path_that_was_tried_stands_in_the_trace_and_without_words_of_users_in_the_log(bench, notes, where):
    bench.variables = {"name": "plan"}
    tried = f"{where}plan.txt" if "\\" in where else os.path.join(bench.public, f"{where}plan.txt")
    for filepath, told in ((where + "{name}.txt", {}), (where + "plan.txt", {"tried": tried})):
        with capture_logs() as logs:
            await bench.run(GetCustomFile, filepath=filepath)
        assert tried in bench.step.trace.notes[-1]
        [warning] = [log for log in logs if log["log_level"] == "warning"]
        assert warning["filepath"] == filepath
        assert {name: told for name, told in warning.items() if name == "tried"} == told
        assert "workflows.file_directories" in warning["allowed"]


async def test_writing_outside_ends_the_run(bench, notes):
    with pytest.raises(SettingsError, match="outside the directories"):
        await bench.run(SaveCustomFile, filepath="../elsewhere.txt", content="x")
    assert not (bench.public.parent / "elsewhere.txt").exists()


async def test_a_text_is_saved_with_its_directories(bench):
    bench.outputs = {1: "été"}
    file = bench.public / "a" / "b.txt"
    assert await bench.run(SaveCustomFile, filepath="a/b.txt", content="{agent1Output}") == (
        f"File successfully saved to {file}"
    )
    assert file.read_bytes() == "été".encode()


async def test_appending_adds_to_the_end(bench, notes):
    for text in ("one\n", "two\n"):
        said = await bench.run(SaveCustomFile, filepath=str(notes), content=text, mode="Append")
        assert said == f"File successfully saved to {notes}"
    assert notes.read_text() == "one\ntwo\n"


@pytest.mark.parametrize(
    ("said", "output", "text"),
    [
        ({"mode": "replace", "find": "b", "content": "X"}, "replaced 2 occurrence(s) in", "a X\n\n X a\n"),
        ({"mode": "replace", "find": "b", "content": ""}, "replaced 2 occurrence(s) in", "a \n\n  a\n"),
        ({"mode": "remove", "find": "{what}"}, "removed 1 line(s) from", "\n b a\n"),
        ({"mode": "trim"}, "removed 1 blank line(s) from", "a b\n b a\n"),
    ],
)
async def test_a_file_is_changed_in_place(bench, notes, said, output, text):
    notes.write_text("a b\n\n b a\n")
    bench.variables = {"what": "a b"}
    assert await bench.run(SaveCustomFile, filepath=str(notes), **said) == (
        f"File successfully updated: {output} {notes}"
    )
    assert notes.read_text() == text


@pytest.mark.parametrize("said", [{"mode": "replace", "find": "z", "content": "y"}, {"mode": "remove", "find": "z"}])
async def test_without_a_match_the_file_is_not_changed(bench, notes, said):
    notes.write_text("a\n")
    before = stamp_of(notes.stat())
    assert (await bench.run(SaveCustomFile, filepath=str(notes), **said)).startswith("File unchanged:")
    assert (await bench.run(SaveCustomFile, filepath=str(notes), mode="trim")).startswith("File unchanged:")
    assert stamp_of(notes.stat()) == before


@pytest.mark.parametrize(
    ("said", "output"),
    [
        ({"content": "x"}, "No filepath specified"),
        ({"filepath": "a.txt"}, "No content specified"),
        ({"filepath": "a.txt", "mode": "replace", "find": "x"}, "No content specified"),
        ({"filepath": "a.txt", "mode": "remove"}, "File unchanged: no text to find was specified"),
        ({"filepath": "a.txt", "mode": "trim"}, "File unchanged: a.txt: there is no such file"),
    ],
)
async def test_missing_properties_are_named_and_nothing_is_written(bench, said, output):
    assert await bench.run(SaveCustomFile, **said) == output
    assert not (bench.public / "a.txt").exists()


async def test_errors_of_the_operating_system_become_the_output(bench, notes):
    os.mkdir(notes)
    assert (await bench.run(SaveCustomFile, filepath="notes.txt", content="x")).startswith(
        "Error saving file: [Errno "
    )


async def test_changes_at_the_same_time_lose_nothing(bench, notes):
    notes.write_text("".join(f"line {n}.\n" for n in range(20)))
    changes = [{"mode": "remove", "find": f"line {n}."} for n in range(20)]
    changes += [{"mode": "append", "content": f"new {n}\n"} for n in range(20)]
    await asyncio.gather(*(bench.run(SaveCustomFile, filepath="notes.txt", **said) for said in changes))
    assert sorted(notes.read_text().splitlines()) == sorted(f"new {n}" for n in range(20))
