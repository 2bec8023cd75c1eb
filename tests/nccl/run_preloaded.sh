#!/usr/bin/env bash
# run_preloaded.sh SHIM PROGRAM ARGUMENT…: runs the program under the preload object; what it records is thrown away.
set -euo pipefail
unset "${!PLUMBLINE_@}"  # settings of whoever runs the tests are not the job's
shim=$1
shift

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PLUMBLINE_RUN=$work/run LD_PRELOAD=$shim TMPDIR=$work timeout 120 "$@"
