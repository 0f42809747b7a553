"""When a memory is hidden for its age."""

from datetime import UTC, datetime, timedelta

import pytest

from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import Memory
from mnemoir.memory.facts.decide.decay import horizon_of, is_hidden, visible_now
from mnemoir.ports.memory_store import Visible
from mnemoir.ports.project_settings import ProjectSettings
from tests.decay_table import DECAY_TABLE

NOW = datetime(2026, 1, 21, 10, 30, tzinfo=UTC)


def memory(created: str, updated: str | None = None, expires_on: str | None = None) -> Memory:
    return Memory(
        id=MemoryId("mem_1"), text="x", user="mira", created_at=created, updated_at=updated, expires_on=expires_on
    )


@pytest.mark.parametrize(("created", "updated", "shown"), DECAY_TABLE)
def test_six_days_hide_what_is_older_by_a_millisecond(created, updated, shown):
    visible = Visible(now=NOW, horizon=horizon_of(6, NOW))
    assert is_hidden(memory(created, updated), visible) is not shown


@pytest.mark.parametrize("days", [None, 0, 0.0, -1, float("nan"), float("inf"), float("-inf"), 1e12, 1e300])
def test_no_sensible_number_of_days_means_no_decay(days):
    assert horizon_of(days, NOW) is None


def test_days_are_periods_of_24_hours_and_may_be_fractions():
    assert horizon_of(0.5, NOW) == NOW - timedelta(hours=12)


@pytest.mark.parametrize(("own", "days"), [(None, 6), (2, 2), (0, None), (-1, None)])
def test_a_project_sets_its_own_decay_over_the_servers(own, days):
    visible = visible_now(6, ProjectSettings(decay_days=own), NOW)
    assert visible == Visible(now=NOW, horizon=NOW - timedelta(days=days) if days else None)


@pytest.mark.parametrize(
    ("expires_on", "gone"), [("2026-01-20", True), ("2026-01-21", False), ("garbage", False), (None, False)]
)
def test_a_memory_is_shown_until_its_last_day_is_over(expires_on, gone):
    assert is_hidden(memory("2026-01-01T00:00:00Z", expires_on=expires_on), Visible(now=NOW)) is gone
