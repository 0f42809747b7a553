"""`python -m tools.places`: writes the names of places that Unicode's CLDR has in seven languages, from babel.

The server has the names alone: all of babel would take 36 MB. Run it after a new release of babel, and commit what
it writes.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from babel import Locale
from babel.core import get_global

from mnemoir.memory.facts.decide import places

FILE = Path(places.__file__).with_name("cldr_places.json")
_LOCALES = ("en", "de", "fr", "es", "it", "pt", "pt_PT", "nl")
_UNIONS = ("EU", "EZ")


def main() -> int:
    FILE.write_text(content(), encoding="utf-8")
    print(f"{FILE.name}, {FILE.stat().st_size // 1024} KiB")
    return 0


def content() -> str:
    """The file: countries and towns with the codes of their countries, and continents, by plain names."""
    territories = [pair for code in _LOCALES for pair in Locale.parse(code).territories.items()]
    table = {
        "source": "Unicode CLDR, Copyright Unicode, Inc., under the Unicode License V3",
        "continents": sorted({places.plain_name(name) for code, name in territories if _is_wide(code)}),
        "countries": {places.plain_name(name): code for code, name in territories if not _is_wide(code)},
        "towns": dict(_towns()),
    }
    return json.dumps(table, ensure_ascii=False, indent=0, sort_keys=True) + "\n"


def _is_wide(territory: str) -> bool:
    return territory.isdigit() or territory in _UNIONS


def _towns() -> Iterator[tuple[str, str]]:
    """The towns that time zones are named after."""
    zones: Mapping[str, str] = get_global("zone_territories")
    for zone, country in zones.items():
        yield places.plain_name(zone.rpartition("/")[2].replace("_", " ")), country
    for code in _LOCALES:
        for zone, words in Locale.parse(code).time_zones.items():
            if "city" in words and zone in zones:
                yield places.plain_name(words["city"]), zones[zone]


if __name__ == "__main__":
    sys.exit(main())
