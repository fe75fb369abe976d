#!/bin/sh
# Copies a range of the billing stream into the replay stream.
set -eu
tally queue copy --from "$1" --to "$2" billing replay
