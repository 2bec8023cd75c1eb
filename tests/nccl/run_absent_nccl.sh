#!/usr/bin/env bash
# run_absent_nccl.sh PROGRAM SHIM: calls of an NCCL that is not there get NCCL's error, and one line says so.
set -euo pipefail
unset "${!PLUMBLINE_@}"  # settings of whoever runs the tests are not the job's
program=$1 shim=$2

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$work/run/plumbline.log
PLUMBLINE_RUN=$work/run LD_PRELOAD=$shim "$program"
lines=$(grep -c 'nccl.* was called, and no loaded library has it' "$log" || true)
[[ $lines -eq 1 ]] || {
  echo "$lines lines in the log:"
  cat "$log"
  exit 1
}
