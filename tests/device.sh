#!/usr/bin/env bash
# What only a GPU can show, in under four minutes: real NCCL, CUDA graphs, the caching allocator, and training that is
# the same bit for bit with and without the preload object.
#
#   PLUMBLINE_PYTHON=/path/to/python tests/device.sh [BUILD]
#
# The Python has a torch with CUDA; BUILD (default: build) has been built. The last line is 'N passed, N failed'.
set -uo pipefail

source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(realpath "${1:-$source_dir/build}")
python=${PLUMBLINE_PYTHON:-python3}
scripts=$source_dir/tests/device
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

export PLUMBLINE_CACHE=$work/cache
export CUBLAS_WORKSPACE_CONFIG=:4096:8
export TORCH_NCCL_ASYNC_ERROR_HANDLING=0
passed=0
failed=0

# step NAME SECONDS COMMAND…: counts the command as passed or failed, and shows its output when it failed. No step runs
# beyond the end of the four minutes.
step() {
  local name=$1 seconds=$2 begin=$SECONDS left=$((235 - SECONDS)) status=0
  shift 2
  [[ $left -lt 1 ]] && left=1
  [[ $seconds -gt $left ]] && seconds=$left
  timeout --kill-after=3 "$seconds" "$@" >"$work/step.log" 2>&1 || status=$?
  if [[ $status -eq 0 ]]; then
    passed=$((passed + 1))
    echo "passed  $name ($((SECONDS - begin)) s)"
  else
    failed=$((failed + 1))
    echo "FAILED  $name ($((SECONDS - begin)) s, status $status)"
    tail -n 30 "$work/step.log" | sed 's/^/        /'
  fi
}

# job NAME SCRIPT [VARIABLE=VALUE…]: runs a script under the preload object; its run and its output keep the name.
job() {
  local name=$1 script=$2
  shift 2
  env "$@" PLUMBLINE_RUN="$work/$name" LD_PRELOAD="$build/lib/libplumbline.so" \
    "$python" "$scripts/$script" >"$work/$name.out"
}

expect() { "$python" "$scripts/expect.py" "$1" "$build/bin/run-reader" "$work/$2" "$work/$2.out"; }

recorded() { job "$@" && expect "$1" "$1"; }

same_losses() {
  "$python" "$scripts/train.py" >"$work/alone.out" && job train train.py &&
    cmp "$work/alone.out" "$work/train.out" && expect train train
}

# Every step's collectives, copied in the stream that they run in.
results_right() {
  job results train.py PLUMBLINE_LEVEL=diagnose && cmp "$work/alone.out" "$work/results.out" &&
    "$build/bin/run-reader" check collective_results "$work/results"
}

nothing_lost() {
  local run
  for run in collectives allocator expandable train; do
    "$build/bin/run-reader" verify "$work/$run" || return 1
  done
}

# Functions run under timeout in a shell of their own.
export source_dir build python scripts work
export -f job expect recorded same_losses results_right nothing_lost

step "a GPU that torch can use" 60 "$python" -c 'import torch; torch.ones(1, device="cuda"); print(torch.version.cuda)'
step "adapter for this torch" 100 "$build/bin/plumbline" build-adapter --python "$python"
step "collectives of real NCCL, captured and not" 60 bash -c 'recorded collectives collectives.py'
step "caching allocator and a request that fails" 60 bash -c 'recorded allocator allocator.py'
step "expandable segments" 60 bash -c 'recorded expandable allocator.py PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True'
step "the same losses with and without recording" 90 bash -c same_losses
step "results of NCCL's collectives, in a diagnosis" 60 bash -c results_right
step "no trace lost anything" 20 bash -c nothing_lost

echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
