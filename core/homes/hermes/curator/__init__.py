"""The curator of a Hermes home: what ages, what is archived, and every way back."""
