"""Conversion of times to text and back."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from mnemoir.core.clock import from_epoch, from_text, to_text


def test_an_instant_is_written_in_utc_with_milliseconds():
    graz = timezone(timedelta(hours=2))
    assert to_text(datetime(2026, 3, 4, 11, 15, tzinfo=graz)) == "2026-03-04T09:15:00.000Z"


def test_an_instant_without_a_zone_is_utc():
    assert to_text(datetime(2026, 3, 4, 9, 15)) == "2026-03-04T09:15:00.000Z"


@pytest.mark.parametrize(
    "text", ["2026-01-15T10:30:00Z", "2026-01-15T10:30:00", "2026-01-15T12:30:00+02:00", " 2026-01-15T10:30:00.000Z "]
)
def test_every_notation_of_an_instant_reads_the_same(text):
    assert from_text(text) == datetime(2026, 1, 15, 10, 30, tzinfo=UTC)


@pytest.mark.parametrize("text", ["garbage", "", None, 17, "0001-01-01T00:00:00+14:00"])
def test_any_other_text_is_no_instant(text):
    assert from_text(text) is None


def test_an_epoch_beyond_any_calendar_is_none():
    assert from_epoch(1e18) is None
