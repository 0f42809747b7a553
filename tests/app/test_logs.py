"""The log: bounded whatever clients do, private on disk, and one form for everybody's lines."""

import io
import json
import logging
import shutil

import pytest
import structlog

from mnemoir.app import logs
from mnemoir.core.errors import SettingsError
from mnemoir.settings import Log


@pytest.fixture
def written():
    yield io.StringIO()
    logs.set_up(Log())


class Time:
    """Stands still until it is moved."""

    now = 100.0

    def __call__(self):
        return self.now


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


def test_a_flood_of_one_event_is_cut_and_counted(written):
    logs.set_up(Log(format="json"), written)
    time = Time()
    structlog.get_config()["processors"][2] = logs.Flood(time)
    log = structlog.get_logger()
    for _ in range(100_000):
        log.info("request", status=400)
    log.info("something else")
    time.now += 10
    log.info("request", status=200)
    told = lines(written.getvalue())
    assert [line["event"] for line in told[:500]] == ["request"] * 500
    assert [(line["event"], line.get("like"), line.get("count")) for line in told[500:]] == [
        ("something else", None, None),
        ("lines like this were left out", "request", 99_500),
        ("request", None, None),
    ]


def test_a_burst_is_written_whole(written):
    logs.set_up(Log(format="json"), written)
    for number in range(500):
        structlog.get_logger().info("request", number=number)
    assert [line["number"] for line in lines(written.getvalue())] == list(range(500))


@pytest.mark.parametrize("level", [logging.WARNING, 35, logging.CRITICAL + 5])
def test_what_libraries_log_has_the_same_form(written, level):
    logs.set_up(Log(format="json"), written)
    logging.getLogger("uvicorn.error").log(level, "Invalid request %s", "received")
    (line,) = lines(written.getvalue())
    assert (line["event"], line["message"]) == ("uvicorn.error", "Invalid request received")


def test_a_library_cannot_flood_the_log_with_lines_that_differ(written):
    logs.set_up(Log(format="json"), written)
    for number in range(2000):
        logging.getLogger("uvicorn.error").warning("Invalid request %d", number)
    assert len(lines(written.getvalue())) <= 1001  # the test itself may fall into two whiles


def test_an_exception_of_a_library_is_written_without_its_local_variables(written):
    logs.set_up(Log(format="json"), written)
    password = "hunter2"
    try:
        raise ValueError("went wrong")
    except ValueError:
        logging.getLogger("asyncio").exception("Task failed")
    assert "ValueError: went wrong" in lines(written.getvalue())[0]["exception"]
    assert password not in written.getvalue()


def test_with_a_directory_every_line_goes_to_a_private_file_too(written, tmp_path):
    folder = tmp_path / "logs"
    logs.set_up(Log(), written, folder)
    structlog.get_logger().info("request", route="/a % b")
    logging.getLogger("uvicorn.error").warning("Invalid")
    file = folder / "mnemoir.log"
    assert file.read_text() == written.getvalue()
    assert (len(file.read_text().splitlines()), file.stat().st_mode & 0o777) == (2, 0o600)


def test_a_file_that_others_could_read_is_made_private(written, tmp_path):
    (tmp_path / "mnemoir.log").touch(0o644)
    logs.set_up(Log(), written, tmp_path)
    assert (tmp_path / "mnemoir.log").stat().st_mode & 0o777 == 0o600


def test_colours_stay_out_of_the_file(tmp_path):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    logs.set_up(Log(), terminal, tmp_path)
    structlog.get_logger().info("request")
    logs.set_up(Log())
    assert ("\x1b[" in terminal.getvalue(), "\x1b[" in (tmp_path / "mnemoir.log").read_text()) == (True, False)


def test_the_files_are_seven_of_three_mebibytes_at_most(written, tmp_path):
    logs.set_up(Log(format="json"), written, tmp_path)
    for number in range(40):
        structlog.get_logger().info("long", text="x" * 700_000, number=number)
    files = sorted(tmp_path.iterdir())
    assert [file.name for file in files] == ["mnemoir.log", *(f"mnemoir.log.{n}" for n in range(1, 7))]
    assert all(file.stat().st_size <= 3 * 2**20 and file.stat().st_mode & 0o777 == 0o600 for file in files)
    assert lines(files[0].read_text())[-1]["number"] == 39


def test_a_directory_that_goes_away_leaves_the_stream(written, tmp_path, capsys):
    folder = tmp_path / "logs"
    logs.set_up(Log(format="json"), written, folder)
    shutil.rmtree(folder)
    for number in range(8):
        structlog.get_logger().info("long", text="x" * 700_000, number=number)
    assert [line["number"] for line in lines(written.getvalue())] == list(range(8))
    assert capsys.readouterr().err == ""


def test_a_directory_that_cannot_be_written_to_is_named(written, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(SettingsError, match=r"The log directory .*file/logs cannot be written to"):
        logs.set_up(Log(), written, tmp_path / "file" / "logs")
