"""Receipts: the stored answers of earlier requests with the same idempotency key."""

from mnemoir.core.errors import Conflict
from mnemoir.core.events import Usage
from mnemoir.memory.facts.requests import AddResult
from mnemoir.ports.memory_store import Receipt, RedeemedReceipt

NOTHING_FOUND = "nothing_found"  # the reason kept with the receipt of an add that had nothing to remember


def redeemed(earlier: RedeemedReceipt, receipt: Receipt) -> AddResult:
    """The earlier answer. Raises Conflict (`idempotency_mismatch`) when the key was used for another request.

    Its cost is not reported again, since no model was called this time.
    """
    if earlier.request_hash != receipt.request_hash:
        raise Conflict(
            "This Idempotency-Key was used for another request in the last 24 hours. Use a new key for this one.",
            code="idempotency_mismatch",
        )
    found = earlier.reason != NOTHING_FOUND
    return AddResult(applied=earlier.applied, facts_found=found, usage=Usage(), redeemed=True)
