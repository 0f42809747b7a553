"""Times are counted by the minute of a day, in fixed memory, and told as quantiles."""

import numpy as np
import pytest

from mnemoir.models.latencies import MINUTES, Latencies, Spread

NONE = Spread(count=0, p50_ms=None, p95_ms=None)


class Clock:
    """Seconds, moved by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def times(clock) -> Latencies:
    return Latencies(clock)


def test_quantiles_are_off_by_a_tenth_at_most(times):
    took_s = np.random.default_rng(7).lognormal(-4, 1, 5000)
    for each in took_s:
        times.note(float(each))
    spread = times.last(60)
    half, most = np.quantile(took_s * 1e3, [0.5, 0.95])
    assert spread.count == 5000
    assert spread.p50_ms == pytest.approx(half, rel=0.1)
    assert spread.p95_ms == pytest.approx(most, rel=0.1)


@pytest.mark.parametrize(("took_s", "shown_ms"), [(0.0, 0.09), (1e-9, 0.09), (3600.0, 88_000)])
def test_what_is_shorter_or_longer_than_any_class_is_counted_at_the_end(times, took_s, shown_ms):
    times.note(took_s)
    assert times.last(1) == Spread(count=1, p50_ms=times.last(1).p50_ms, p95_ms=times.last(1).p50_ms)
    assert times.last(1).p50_ms == pytest.approx(shown_ms, rel=0.1)


def test_times_stand_in_the_step_they_ended_in(times, clock):
    for minute in (0, 0, 14, 59):
        clock.now = minute * 60.0
        times.note(0.01)
    assert [spread.count for spread in times.steps(60, 15)] == [3, 0, 0, 1]
    clock.now = 60 * 60.0
    assert [spread.count for spread in times.steps(60, 15)] == [1, 0, 0, 1]


def test_a_day_later_nothing_is_left_and_the_same_places_count_anew(times, clock):
    times.note(0.01)
    clock.now = MINUTES * 60.0
    assert times.last(MINUTES) == NONE
    times.note(0.02)
    assert times.last(MINUTES).count == 1


def test_only_what_succeeds_is_measured(times, clock):
    with times.record_duration():
        clock.now += 0.5
    with pytest.raises(ValueError, match="no"), times.record_duration():
        raise ValueError("no")
    assert times.last(1).count == 1
    assert times.last(1).p50_ms == pytest.approx(500, rel=0.1)
