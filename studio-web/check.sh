#!/bin/sh
# Style, types, unit tests, and whether the committed files are what these sources build. Without Node.js, or where its
# packages cannot be had, nothing is checked, and that is said; a lock file that does not fit package.json is an error.
cd "$(dirname "$0")" || exit 1
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
  echo "no Node.js: the studio's page is not checked (its served files are, by the tests)" >&2
  exit 0
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! test -f node_modules/.package-lock.json || test package-lock.json -nt node_modules/.package-lock.json; then
  if ! npm ci --no-progress >"$log" 2>&1; then
    grep -q EUSAGE "$log" && cat "$log" >&2 && exit 1
    echo "npm could not install its packages: the studio's page is not checked" >&2
    tail -n 3 "$log" >&2
    exit 0
  fi
fi
npm run --silent lint >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
npm run --silent test >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
grep -E "^(# |ℹ )(pass|tests) " "$log" | tr '\n' ' '
echo "in studio-web"
npm run --silent verify
