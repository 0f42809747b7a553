"""Interfaces between rooms: Protocols of stores, models and services, which rooms above implement."""
