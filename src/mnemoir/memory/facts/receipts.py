"""Receipts: what an earlier request under the same key was answered, read back from the store."""

from mnemoir.core.errors import Conflict
from mnemoir.core.events import Usage
from mnemoir.memory.facts.requests import AddResult
from mnemoir.ports.memory_store import Receipt, RedeemedReceipt

NOTHING_FOUND = "nothing_found"  # the reason kept with the receipt of an add that had nothing to remember


def redeemed(earlier: RedeemedReceipt, receipt: Receipt) -> AddResult:
    """The earlier answer. Raises Conflict (`idempotency_mismatch`) when another request was asked under the key.

    What it cost is not told again: this time no model was asked.
    """
    if earlier.request_hash != receipt.request_hash:
        raise Conflict(
            "This Idempotency-Key was used for another request in the last 24 hours. Use a new key for this one.",
            code="idempotency_mismatch",
        )
    found = earlier.reason != NOTHING_FOUND
    return AddResult(applied=earlier.applied, facts_found=found, usage=Usage(), redeemed=True)
