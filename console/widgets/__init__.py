"""Widgets that draw only what is on screen; they know no home, no desk and no screen."""
