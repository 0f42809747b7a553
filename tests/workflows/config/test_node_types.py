"""The registry of node types."""

from importlib.metadata import EntryPoint
from typing import ClassVar

from mnemoir.workflows import node
from mnemoir.workflows.node import GROUP, ValueNode, installed_nodes, load, node_types
from mnemoir.workflows.nodes.standard import Standard


class Weather(ValueNode):
    """A node type of another package."""

    kind = "Weather"
    aliases: ClassVar[tuple[str, ...]] = ("Forecast",)

    async def value(self, step):
        return "sunny"


class Impostor(Weather):
    """A second type with a name of the first, or of Mnemoir's types."""

    kind = "Climate"
    aliases = ("forecast",)


class Usurper(Weather):
    """A type with the name of one of Mnemoir's types."""

    kind = "STANDARD"
    aliases = ()


class Nameless(ValueNode):
    """A type without a `kind`."""

    async def value(self, step):
        return ""


def entry(name, value):
    return EntryPoint(name=name, value=value, group=GROUP)


STANDARD = entry("Standard", "mnemoir.workflows.nodes.standard:Standard")


def test_types_are_found_by_kind_and_alias_in_lower_case():
    loaded = load([entry("w", f"{__name__}:Weather"), STANDARD])
    assert loaded.types == {"standard": Standard, "weather": Weather, "forecast": Weather}
    assert loaded.problems == []


def test_a_broken_entry_is_reported_and_the_others_work():
    broken = ["no_such_package:Node", f"{__name__}:Missing", "json:loads", f"{__name__}:Nameless"]
    loaded = load([*(entry(f"e{number}", value) for number, value in enumerate(broken)), STANDARD])
    assert loaded.types == {"standard": Standard}
    assert [problem.split(" in mnemoir.nodes: ")[0] for problem in loaded.problems] == [
        f"entry e{number} = {value}" for number, value in enumerate(broken)
    ]


def test_a_name_used_twice_goes_to_the_first_type_and_ours_come_first():
    entries = [
        entry("a", f"{__name__}:Usurper"),
        entry("b", f"{__name__}:Weather"),
        entry("c", f"{__name__}:Impostor"),
    ]
    loaded = load([*entries, STANDARD])
    assert loaded.types == {"standard": Standard, "weather": Weather, "forecast": Weather}
    assert [problem.rsplit(": ", 1)[1] for problem in loaded.problems] == [
        "standard is already the name of Standard; choose another.",
        "forecast is already the name of Weather; choose another.",
    ]


def test_an_entry_that_is_listed_twice_counts_once():
    assert load([STANDARD, STANDARD]).problems == []


def test_a_type_of_mnemoir_is_found_without_a_look_at_other_packages(monkeypatch):
    def refuse(**_: str) -> None:
        raise AssertionError("all packages were looked through")

    node_types.cache_clear()
    monkeypatch.setattr(node, "entry_points", refuse)
    assert node_types()["respond"].kind == "Respond"


def test_other_names_of_a_type_and_unknown_ones_are_looked_for_among_all():
    assert node_types()["keywordsearchperformertool"].kind == "ConversationalKeywordSearchPerformerTool"
    assert node_types().get("nothing of that name") is None
    assert dict(node_types()) == dict(installed_nodes().types)
