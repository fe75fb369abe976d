"""The outer fields of a pending record, validated without refusing any: each has a fallback.

Only what is no JSON object is unreadable (contract, "Ids"), so a field of the wrong type becomes
empty instead of an error; the raw object beside it keeps what really stands in the file.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, PlainValidator


def text_or_empty(value: object) -> str:
    """Text as it is; anything else is no text."""
    return value if isinstance(value, str) else ""


def time_or_none(value: object) -> float | None:
    """A finite number (seconds) as a float; ``None`` for anything else, booleans included."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        seconds = float(value)
    except OverflowError:
        return None
    return seconds if math.isfinite(seconds) else None


def mapping_or_empty(value: object) -> Mapping[str, Any]:
    """An object as it is; anything else is an empty one."""
    return value if isinstance(value, dict) else {}


# PlainValidator: pydantic's own text check refuses lone surrogates, which records may hold.
Text = Annotated[str, PlainValidator(text_or_empty)]


class Envelope(BaseModel):
    """The fields every agent version writes around a payload (0.19.0; all optional)."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: Text = ""
    action: Text = ""
    summary: Text = ""
    origin: Text = ""
    created_at: Annotated[float | None, PlainValidator(time_or_none)] = None
    payload: Annotated[Mapping[str, Any], PlainValidator(mapping_or_empty)] = {}


def read_envelope(raw: Mapping[str, Any]) -> Envelope:
    """The envelope of a record's whole object; never raises."""
    return Envelope.model_validate(
        {name: raw[name] for name in Envelope.model_fields if name in raw}
    )
