"""Editing a pending record before it is decided: parts, conversions, cleaning. All pure."""
