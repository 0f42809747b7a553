"""Which place is wider than another one, and may contain it: by tables, and where they say nothing, it may."""

import pytest

from mnemoir.memory.facts.decide.places import contains, is_wide, may_contain, tells_move

WIDER = """
Austria > Graz
Österreich > Wien
den USA > Texas
les États-Unis > Austin
the south of France > Nice
Süddeutschland > München
Zuid-Holland > Delft
Europe > Austria
Germany > a village that no table knows
Bosnia and Herzegovina > Mostar
"""
NOT_WIDER = """
Germany > Graz
Norway > Steiermark
Graz > Austria
Graz > Linz
Austria > Germany
Singapore > Hanoi
Argentina > Ouagadougou
"""


def pairs(table: str) -> list[list[str]]:
    """The two places of each line."""
    return [line.split(" > ") for line in table.strip().splitlines()]


@pytest.mark.parametrize("pair", pairs(WIDER))
def test_a_wider_place_may_contain_a_narrower_one(pair):
    assert may_contain(*pair)
    assert is_wide(pair[0])


@pytest.mark.parametrize("pair", pairs(NOT_WIDER))
def test_a_place_contains_none_that_is_as_wide_or_known_to_lie_elsewhere(pair):
    assert not may_contain(*pair)


def test_only_a_town_whose_country_is_known_is_known_to_lie_in_it():
    assert contains("Österreich", "Graz")
    assert not contains("Österreich", "Hintertupfing")
    assert may_contain("Argentina", "Córdoba")
    assert may_contain("España", "Córdoba")


def test_a_move_and_now_tell_that_a_former_home_has_ended():
    assert tells_move("Ich bin nach Norwegen gezogen")
    assert tells_move("Ora vivo in Svizzera")
    assert not tells_move("Lives in Norway")
    assert not tells_move("Vivo en los Estados Unidos")


def test_the_names_of_the_library_are_those_that_its_release_has():
    pytest.importorskip("babel", reason="the package babel is not installed")
    from tools.places import FILE, content

    assert FILE.read_text("utf-8") == content()
