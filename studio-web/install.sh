#!/bin/sh
# install.sh LEAST GIVEN NAME…: nothing if one of these programs is there, in version LEAST or later (0: in any);
# otherwise Debian's newest package for the first NAME, if we may install packages. What is missing in the end is said;
# the exit status is 0 all the same.
least=$1 given=$2
shift 2

is_there() { # NAME
  command -v "$1" >/dev/null || return 1
  test "$least" = 0 || test "$("$1" --version 2>/dev/null | grep -oE '[0-9]+' | head -n 1)" -ge "$least" 2>/dev/null
}

for name in "$given" "$@"; do
  test -n "$name" && is_there "$name" && exit 0
done
package=$1
test "$package" = node && package="nodejs npm"
if test "$(id -u)" = 0 && command -v apt-get >/dev/null; then
  echo "installing $package"
  # The list of packages may be as old as the machine's image: what it names may be gone, or too old.
  # shellcheck disable=SC2086  # one package or two
  { apt-get update -qq; apt-get install -y -qq --no-install-recommends $package; } >/dev/null 2>&1
fi
for name in "$given" "$@"; do
  test -n "$name" && is_there "$name" && exit 0
done
version=$(test "$least" = 0 || echo " in version $least or later")
echo "no $1$version, and none could be installed: what needs it will be skipped" >&2
exit 0
