"""Finding what was said: queries of people, an index of our own, marks in texts, export.

It knows rows and texts, no files of a home.
"""
