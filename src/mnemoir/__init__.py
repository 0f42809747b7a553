"""Mnemoir gives any LLM application a memory: one self-hosted process between the app and its models."""

import os

# Before numpy is imported anywhere: a second BLAS thread spins beside the first, and a search takes 26 ms of two
# cores under load instead of 5 of one.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Before onnxruntime is loaded anywhere: it gives the machine an id and reports to its maker from then on, and
# `disable_telemetry_events` comes too late for that.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

__version__ = "0.1.0"
