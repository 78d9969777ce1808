#!/bin/sh
# install.sh GIVEN NAME…: nothing if one of these programs is there; otherwise Debian's package for the first NAME, if
# we may install packages. What is missing in the end is said; the exit status is 0 all the same.
given=$1
shift
for name in "$given" "$@"; do
  test -n "$name" && command -v "$name" >/dev/null && exit 0
done
package=$1
test "$package" = node && package="nodejs npm"
if test "$(id -u)" = 0 && command -v apt-get >/dev/null; then
  echo "installing $package"
  # shellcheck disable=SC2086  # one package or two
  apt-get install -y -qq --no-install-recommends $package >/dev/null 2>&1 ||
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends $package; } >/dev/null 2>&1
fi
command -v "$1" >/dev/null || echo "no $1, and none could be installed: what needs it will be skipped" >&2
exit 0
