#!/usr/bin/env bash
# check_preload_object.sh libplumbline.so plumbline.map
#
# Holds the preload object to what makes it harmless in a foreign process: it needs libc alone, exports the hooks and
# nothing else, uses little of the static TLS block, and is bound, read-only and permanent once loaded.
set -u
object=$1
script=$2
failures=0
fail() {
  echo "FAIL: $*"
  failures=$((failures + 1))
}

# The loader itself counts as part of libc: __tls_get_addr and _dl_find_object live there.
needed=$(readelf -dW "$object" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
for library in $needed; do
  case $library in
    libc.so.6 | libdl.so.2 | libpthread.so.0 | ld-linux-*.so.*) ;;
    *) fail "it needs $library" ;;
  esac
done

listed=$(sed -n '/global:/,/local:/s/^ *\([A-Za-z_][A-Za-z0-9_]*\);$/\1/p' "$script" | sort -u)
exported=$(nm -D --defined-only "$object" | awk '{ print $3 }' | sort -u)
extra=$(comm -13 <(echo "$listed") <(echo "$exported"))
missing=$(comm -23 <(echo "$listed") <(echo "$exported"))
[ -z "$extra" ] || fail "it exports what no list names: $extra"
[ -z "$missing" ] || fail "listed, but not defined: $missing"
[ -n "$listed" ] || fail "the version script lists nothing"

tls=$(readelf -lW "$object" | awk '$1 == "TLS" { print $6 }')
[ $((${tls:-0})) -le 64 ] || fail "its thread-locals take $((tls)) bytes, more than 64"
flags=$(readelf -dW "$object" | grep -E '\((FLAGS|FLAGS_1|TEXTREL)\)')
grep -q 'STATIC_TLS' <<<"$flags" || fail "its thread-locals need a call to be reached (-ftls-model=initial-exec)"
grep -q 'NOW' <<<"$flags" || fail "it is not bound at load (-z now)"
grep -q 'NODELETE' <<<"$flags" || fail "it can be unloaded (no -z nodelete)"
! grep -q 'TEXTREL' <<<"$flags" || fail "it has relocations in its text"
readelf -lW "$object" | grep -q GNU_RELRO || fail "its relocations stay writable (no -z relro)"

[ "$failures" -eq 0 ] && echo "ok: $(wc -w <<<"$exported") exported symbols, $((${tls:-0})) bytes of TLS, needs: $(echo $needed)"
exit $((failures > 0))
