"""A picture of a user's memories: groups in the space of their vectors, laid out in two dimensions."""

from mnemoir.search.maps.maps import MOST_PLACED, MapGroup, Maps, MemoryMap, Point, Selection, select_rows

__all__ = ["MOST_PLACED", "MapGroup", "Maps", "MemoryMap", "Point", "Selection", "select_rows"]
