"""Cleaning of a model's answer before it is sent or stored."""
