#!/usr/bin/env bash
# run_second_shim.sh JOB CHECK SHIM OTHER: another interposer sees every call, and so do we, whichever is preloaded first.
set -euo pipefail
unset "${!PLUMBLINE_@}"  # settings of whoever runs the tests are not the job's
job=$1 check=$2 shim=$3 other=$4

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work

# run NAME PRELOAD: leaves what the other interposer counted on rank 0 in NAME.count.0
run() {
  mkdir "$work/$1"
  SECOND_SHIM_LOG=$work/$1.count PLUMBLINE_RUN=$work/$1.run LD_PRELOAD=$2 timeout 120 "$job" 2 "$work/$1"
}

run alone "$other"
run first "$shim:$other"
run last "$other $shim"
for order in first last; do
  cmp "$work/alone.count.0" "$work/$order.count.0"
  cmp "$work/alone/rank0.results" "$work/$order/rank0.results"
  "$check" "$work/$order.run" "$work/$order"
done
