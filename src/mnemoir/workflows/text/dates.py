"""Variables with the date and the time, in the server's time zone."""

from collections.abc import Callable, Mapping
from datetime import datetime

DATES: Mapping[str, Callable[[datetime], str]] = {
    "todays_date_pretty": lambda now: now.strftime("%B %d, %Y"),
    "todays_date_iso": lambda now: now.strftime("%Y-%m-%d"),
    "YYYY_MM_DD": lambda now: now.strftime("%Y_%m_%d"),
    "current_time_12h": lambda now: now.strftime("%I:%M %p").removeprefix("0"),
    "current_time_24h": lambda now: now.strftime("%H:%M"),
    "current_month_full": lambda now: now.strftime("%B"),
    "current_day_of_week": lambda now: now.strftime("%A"),
    "current_day_of_month": lambda now: now.strftime("%d"),
}
