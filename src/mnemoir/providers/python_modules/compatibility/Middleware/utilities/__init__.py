"""Utilities for modules: configuration files, logging, texts, and the failure exception."""
