#!/bin/sh
# Starts, stops or shows the canary. Usage: watch.sh start vX.Y.Z | stop | show
set -eu
case "${1:-show}" in
    start) tally canary start --tag "$2" --share 5 ;;
    stop) tally canary stop ;;
    show) tally canary show --every 30s ;;
    *) echo "usage: watch.sh start TAG | stop | show" >&2; exit 2 ;;
esac
