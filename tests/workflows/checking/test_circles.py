"""Search for circles in a graph."""

from hypothesis import given
from hypothesis import strategies as st

from mnemoir.workflows.checking.endpoints import circles

GRAPHS = st.dictionaries(st.integers(0, 8), st.lists(st.integers(0, 8), max_size=4))


def test_a_chain_has_no_circle_and_a_node_may_lead_to_itself():
    assert circles({"a": ["b", "c"], "b": ["c"], "c": []}) == []
    assert circles({"a": ["a"]}) == [["a"]]


def test_each_edge_that_closes_a_circle_gives_that_circle():
    assert circles({"a": ["b"], "b": ["c", "a"], "c": ["b"]}) == [["b", "c"], ["a", "b"]]


def test_a_chain_longer_than_the_stack_is_walked():
    edges = {number: [number + 1] for number in range(50_000)}
    assert circles(edges) == []
    assert len(circles({**edges, 50_000: [0]})[0]) == 50_001


@given(GRAPHS)
def test_circles_are_found_exactly_if_there_are_any(edges):
    found = circles(edges)
    for way in found:
        assert all(after in edges[before] for before, after in zip(way, [*way[1:], way[0]], strict=True))
    assert bool(found) == leads_back(edges)


def leads_back(edges):
    """True when nodes remain after repeatedly removing all nodes without edges to others: there is a circle."""
    left = {node: set(edges.get(node, ())) for node in {*edges, *(n for many in edges.values() for n in many)}}
    while ends := [node for node, following in left.items() if not following & left.keys()]:
        for node in ends:
            del left[node]
    return bool(left)
