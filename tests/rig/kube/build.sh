#!/usr/bin/env bash
# Builds the one-binary control plane once per content of this folder and prints the binary's path.
#
# The binary is kept outside of the work tree, so that every clone on a machine shares it; a lock lets
# parallel runs wait for one build. `build.sh --find` only looks, and fails where nothing is built.
#   KUBE_RIG_CACHE   default ${XDG_CACHE_HOME:-~/.cache}/pilotage-tests/kube
#   KUBE_RIG_TAGS    programs to leave out; default no_kwok, which saves two minutes
#   KUBE_RIG_JOBS    default: number of cores
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${KUBE_RIG_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pilotage-tests/kube}
case $cache in /*) ;; *) cache=$PWD/$cache ;; esac
tags=${KUBE_RIG_TAGS-no_kwok}
version=$(sed -n 's/.*k8s.io\/kubernetes v\([0-9.]*\)$/\1/p' "$here/go.mod" | head -1)
minor=${version#1.}; minor=${minor%%.*}
key=$( { cat "$here"/go.mod "$here"/go.sum "$here"/*.go; echo "$tags"; } | sha256sum | cut -c1-16)
binary=$cache/kube-test-rig-$version-$key
if [ ! -x "$binary" ]; then
  [ "${1:-}" != --find ] || { echo "the Kubernetes rig is not built: make rig" >&2; exit 1; }
  command -v go >/dev/null || { echo "the Kubernetes rig needs Go 1.26 to be built" >&2; exit 1; }
  mkdir -p "$cache"
  exec 9>"$cache/lock"; flock 9
  if [ ! -x "$binary" ]; then
    export CGO_ENABLED=0 GOFLAGS=-buildvcs=false
    stamps=
    for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
      stamps+=" -X $package.gitVersion=v$version -X $package.gitMajor=1 -X $package.gitMinor=$minor"
      stamps+=" -X $package.gitTreeState=clean -X $package.gitCommit=test-rig"
    done
    echo "Building the Kubernetes rig (about ten minutes the first time, on two cores) …" >&2
    (cd "$here" && go build -p "${KUBE_RIG_JOBS:-$(nproc)}" -trimpath -tags "$tags" \
        -gcflags=all=-dwarf=false -ldflags="-s -w$stamps" -o "$binary.part$$" .) >&2
    mv "$binary.part$$" "$binary"
  fi
fi
echo "$binary"
