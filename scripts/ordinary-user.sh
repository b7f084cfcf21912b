#!/usr/bin/env bash
# Runs the tests of folders, files and their owners again as another user: CI containers run as root,
# for whom no file is closed. In another time zone. Results: coverage/results-ordinary-user.json
set -uo pipefail
cd "$(dirname "$0")/.."

nobody=65534
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
chown "$nobody:$nobody" "$home"
as_nobody() {
  setpriv --reuid="$nobody" --regid="$nobody" --clear-groups \
    env -i PATH="$PATH" HOME="$home" TMPDIR="$home" TZ=America/St_Johns "$@"
}
if [ "$(id -u)" != 0 ] || ! as_nobody test -r package.json 2> /dev/null; then
  echo 'Not tested as another user: only root can become one that can read this folder.' >&2
  exit 0
fi
mkdir -p coverage
results="$home/results.json"
# The user can't write to node_modules, where vitest would put its own configuration.
as_nobody node node_modules/vitest/vitest.mjs run --configLoader runner --project code \
  test/config test/context test/journal test/system test/ssh/include test/ssh/known-hosts \
  test/watch/resume \
  --reporter=dot --reporter=json --outputFile.json="$results"
code=$?
cp "$results" coverage/results-ordinary-user.json 2> /dev/null || : > coverage/results-ordinary-user.json
exit "$code"
