# Sourced by tools/demo and tools/test: what a fresh Debian 12 machine needs, made once and quick afterwards.
# Sets: source_dir, build_dir, python (an interpreter with torch).

source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build_dir=${PLUMBLINE_BUILD:-$source_dir/build}
cache_dir=${XDG_CACHE_HOME:-$HOME/.cache}/plumbline

say() { printf '\n== %s\n' "$*" >&2; }

# Installs the Debian packages among "$@" that are missing.
need_packages() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  if [ "$(id -u)" -ne 0 ]; then
    echo "These Debian packages are missing: ${missing[*]}. Install them as root, then run this again." >&2
    exit 2
  fi
  say "installing ${missing[*]}"
  DEBIAN_FRONTEND=noninteractive apt-get update -qq >&2
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
}

build_packages=(g++ cmake ninja-build ccache flatbuffers-compiler libflatbuffers-dev libzstd-dev zstd libxxhash-dev
  libcli11-dev libfmt-dev nlohmann-json3-dev libtomlplusplus-dev protobuf-compiler libprotobuf-dev libunwind-dev
  zlib1g-dev libgtest-dev libbenchmark-dev python3 python3-venv)

# need_python REQUIREMENTS…: PLUMBLINE_PYTHON, or a virtual environment of our own with the given requirement files.
need_python() {
  if [ -n "${PLUMBLINE_PYTHON:-}" ]; then
    python=$PLUMBLINE_PYTHON
    if ! "$python" -c 'import torch' 2>/dev/null; then
      echo "PLUMBLINE_PYTHON=$python cannot import torch. Point it at a Python that has torch, or unset it." >&2
      exit 2
    fi
    return
  fi
  local environment=$cache_dir/venv-torch-2.11.0 file stamp
  python=$environment/bin/python
  [ -x "$python" ] || { mkdir -p "$cache_dir"; python3 -m venv "$environment"; }
  for file in "$@"; do
    stamp=$environment/installed-$(sha256sum "$file" | cut -c1-16)
    [ -e "$stamp" ] && continue
    say "installing $(paste -sd' ' "$file") (about a minute, 5 GB)"
    "$python" -m pip install --quiet --disable-pip-version-check --no-cache-dir -r "$file" >&2
    touch "$stamp"
  done
}

# build TARGET…: configures and builds; none means everything.
build() {
  if [ $# -eq 0 ]; then set -- all; fi
  build_in "$build_dir" -DPLUMBLINE_PYTHON="$python" "${build_options[@]}" -- "$@"
}
build_options=()

# build_in DIRECTORY OPTION… -- TARGET…
build_in() {
  local directory=$1 options=()
  shift
  while [ "$1" != -- ]; do options+=("$1"); shift; done
  shift
  say "building in $directory"
  cmake -S "$source_dir" -B "$directory" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache \
    "${options[@]}" >"$directory.log" 2>&1 || { cat "$directory.log" >&2; exit 2; }
  cmake --build "$directory" --target "$@" -- --quiet >&2
}
