"""What is made at its first use: modules and patterns."""

import sys

import pytest

from mnemoir.core import first_use


def test_a_module_is_imported_when_a_name_of_it_is_first_read(monkeypatch):
    colours = first_use.module("colorsys")
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    assert "colorsys" not in sys.modules
    assert colours.rgb_to_hsv(0, 0, 0) == (0, 0, 0)
    assert "colorsys" in sys.modules


def test_a_name_that_a_module_has_not_is_an_error_of_attributes():
    with pytest.raises(AttributeError, match="nothing_of_that_name"):
        first_use.module("colorsys").nothing_of_that_name  # noqa: B018


def test_a_pattern_is_compiled_when_it_is_first_used():
    broken = first_use.pattern("(")
    with pytest.raises(Exception, match="missing"):
        broken.search("")
    words = first_use.pattern("tea", flags=2)
    assert [found.span() for found in words.finditer("Tea, tea")] == [(0, 3), (5, 8)]
    assert words.sub("", "TEA!") == "!"


def test_a_hidden_library_cannot_be_imported_until_the_block_has_ended(monkeypatch):
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    with first_use.hide("colorsys"), pytest.raises(ImportError):
        import colorsys
    import colorsys

    with first_use.hide("colorsys"):
        assert sys.modules["colorsys"] is colorsys  # what is there already stays
