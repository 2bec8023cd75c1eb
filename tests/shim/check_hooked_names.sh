#!/usr/bin/env bash
# check_hooked_names.sh exports.txt library…
#
# Every name in the export list is what a C++ compiler makes of torch's declarations: some library defines it.
set -u
list=$1
shift
defined=$(nm -D --defined-only "$@" | awk '{ print $3 }' | sort -u)
unknown=$(comm -23 <(grep -v '^#' "$list" | sort -u) <(echo "$defined"))
[ -z "$unknown" ] && echo "ok: $(grep -vc '^#' "$list") names" && exit 0
echo "FAIL: no declaration of c10d has these names: $unknown"
exit 1
