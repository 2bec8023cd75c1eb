#!/usr/bin/env bash
# run_nccl_job.sh JOB CHECK SHIM RANKS: the test job alone and under the preload object gives the same results bit for
# bit, and its traces hold exactly what it called.
set -euo pipefail
unset "${!PLUMBLINE_@}"  # settings of whoever runs the tests are not the job's
job=$1 check=$2 shim=$3 ranks=$4

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/alone" "$work/recorded"
export TMPDIR=$work

# The job imports CUDA's functions by version, as torch's libraries do.
nm -D --undefined-only "$job" | grep 'cudaMalloc@libcudart.so.13' >/dev/null || {
  echo "the job does not import versioned symbols"
  exit 1
}

timeout 120 "$job" "$ranks" "$work/alone"
PLUMBLINE_RUN=$work/run LD_PRELOAD=$shim timeout 120 "$job" "$ranks" "$work/recorded"

for ((rank = 0; rank < ranks; rank++)); do
  cmp "$work/alone/rank$rank.results" "$work/recorded/rank$rank.results"
done
"$check" "$work/run" "$work/recorded"

left_behind=$(find "$work" -name 'nccl-standin-*' | wc -l)
[[ $left_behind -eq 0 ]] || {
  echo "$left_behind files of the stand-in were left behind"
  exit 1
}
