"""Time zones by name, and times in the zone of the person who named them.

A name is one of IANA ("Europe/Vienna") or an offset ("+05:30"). Programs write the offset zero from anywhere, so it
says nothing of where somebody is: such a time is read in the zone that is known otherwise.
"""

import re
from collections.abc import Iterable
from datetime import datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import structlog

_OFFSET = re.compile(r"(?:UTC|GMT)?(?P<sign>[+\-−])(?P<hours>[01]?\d|2[0-3]):?(?P<minutes>[0-5]\d)?", re.ASCII)
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_+-]{0,40}(?:/[A-Za-z0-9_+-]{1,40}){0,2}", re.ASCII)
_KNOWN = 1024
_LONGEST_SHOWN = 64  # characters of a name
_ignored: set[str] = set()
_log = structlog.get_logger(__name__)


@lru_cache(_KNOWN)
def zone_by_name(name: str) -> tzinfo | None:
    """The zone of that name; None for a name that is none."""
    if offset := _OFFSET.fullmatch(name.strip()):
        distance = timedelta(hours=int(offset["hours"]), minutes=int(offset["minutes"] or 0))
        return timezone(distance if offset["sign"] == "+" else -distance)
    if not _NAME.fullmatch(name.strip()):
        return None
    try:
        return ZoneInfo(name.strip())
    except (ZoneInfoNotFoundError, ValueError, OSError):  # a folder of zones, a file that is none
        return None


def first_zone(names: Iterable[str | None]) -> str | None:
    """The first of the names that is one of a zone. Others are ignored, each logged once."""
    for name in filter(None, names):
        if zone_by_name(name) is not None:
            return name
        if name not in _ignored and len(_ignored) < _KNOWN:
            _ignored.add(name)
            _log.warning("time zone ignored", zone=name[:_LONGEST_SHOWN])
    return None


def zone_name(name: str) -> str:
    """The name itself. Raises ValueError for one that is no zone's."""
    if zone_by_name(name) is None:
        raise ValueError("must be a time zone, such as Europe/Vienna or +05:30")
    return name


def in_zone_of_speaker(instant: datetime, zone: tzinfo | None) -> datetime:
    """The instant at the offset it was written with, unless that is zero: then in `zone`, None for the server's."""
    return instant if instant.utcoffset() else instant.astimezone(zone)
