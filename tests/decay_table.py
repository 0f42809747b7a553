"""Which memories are shown when the limit is six days and it is 2026-01-21T10:30:00Z: the table of the contract.

Rows are (created_at, updated_at, is shown); beyond the contract's rows, times in the future and unreadable ones.
"""

DECAY_TABLE = [
    ("2026-01-15T10:30:00Z", None, True),
    ("2026-01-15T10:29:59.999Z", None, False),
    ("2026-01-15T10:29:59.999Z", "2026-01-15T10:29:59.999Z", False),
    ("2026-01-01T00:00:00Z", "2026-01-20T00:00:00Z", True),
    ("2026-01-20T00:00:00Z", "2026-01-01T00:00:00Z", False),
    ("2026-01-15T10:30:00", None, True),
    ("garbage", None, True),
    ("2026-01-15T12:30:00+02:00", None, True),
    ("2026-01-01T00:00:00Z", "garbage", False),
    ("2026-01-15T10:29:59.999Z", "garbage", False),
    ("garbage", "2026-01-01T00:00:00Z", False),
    ("2030-01-01T00:00:00Z", None, True),
    ("2126-01-01T00:00:00Z", None, True),
]
