#!/usr/bin/env bash
# Checks types and style, then runs the tests of the code and a minute of the built program.
# Words go to vitest: `npm test -- test/money`.
set -eo pipefail
cd "$(dirname "$0")/.."

if (($# > 0)); then
  # Counts are those of whole runs.
  words=("$@")
else
  echo 'Checks types and style, then runs the tests: usually 2 minutes on two quiet cores.'
  words=(--reporter=default --reporter=json --outputFile.json=coverage/results.json
    --reporter=./scripts/summary.mjs)
fi
npm run --silent typecheck
npm run --silent lint
npx --no-install vitest run --project code --project quick "${words[@]}"
