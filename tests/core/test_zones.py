"""Time zones by name, and the first of several that is one."""

from datetime import UTC, datetime, timedelta

import pytest
from structlog.testing import capture_logs

from mnemoir.core.zones import first_zone, in_zone_of_speaker, zone_by_name

NOON = datetime(2024, 2, 28, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "hours"),
    [
        ("Asia/Tokyo", 9),
        ("Europe/Vienna", 1),
        ("America/Argentina/Buenos_Aires", -3),
        ("UTC", 0),
        ("+05:30", 5.5),
        ("-08:00", -8),
        ("−03:00", -3),
        ("UTC+2", 2),
        ("+0930", 9.5),
    ],
)
def test_a_zone_has_a_name_of_iana_or_an_offset(name, hours):
    zone = zone_by_name(name)
    assert zone is not None
    assert NOON.astimezone(zone).utcoffset() == timedelta(hours=hours)


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "Mars/Olympus",
        "Europe",
        "../../etc/passwd",
        "/etc/passwd",
        "Europe/../UTC",
        "+25:00",
        "+05:99",
        "x" * 9999,
        "\x00",
        "tomorrow",
        "posixrules/x",
        "Ａsia/Tokyo",
    ],
)
def test_any_other_name_is_none(name):
    assert zone_by_name(name) is None


def test_the_first_zone_counts_and_what_is_none_is_logged_once():
    with capture_logs() as logs:
        found = [first_zone([None, "Nowhere/At All", "+09:00", "Europe/Vienna"]) for _ in range(3)]
    assert found == ["+09:00"] * 3
    assert [line["zone"] for line in logs] == ["Nowhere/At All"]


@pytest.mark.parametrize(("written", "hour"), [("+09:00", 1), ("Z", 20), ("+00:00", 20), ("-00:00", 20)])
def test_a_time_keeps_its_own_offset_unless_that_is_zero(written, hour):
    instant = datetime.fromisoformat(f"2024-02-29T01:00:00{written}")
    assert in_zone_of_speaker(instant, zone_by_name("-05:00")).hour == hour
