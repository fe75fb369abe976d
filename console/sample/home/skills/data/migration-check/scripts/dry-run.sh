#!/bin/sh
# Runs the pending migrations on staging inside a transaction and rolls it back.
set -eu
make migrate ENV=stage DRY_RUN=1 | tee /tmp/migration-check.log
grep -c LOCK /tmp/migration-check.log
