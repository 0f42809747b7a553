"""Mnemoir gives any LLM application a memory: one self-hosted process between the app and its models."""

__version__ = "0.1.0"
