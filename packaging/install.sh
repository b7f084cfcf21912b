#!/bin/sh
# Installs gpucloud @VERSION@, one executable that needs nothing else, after checking its sum.
#
#   sh install.sh [--prefix FOLDER] [--from FOLDER|URL]
#   sh install.sh --uninstall [--prefix FOLDER]
#   curl -fsSL --proto =https URL/install.sh | sh -s -- --from URL
#
# The archive is taken from --from, or from the folder of this file. URL is https://, or http:// on this
# computer. The prefix is /usr/local for root and ~/.local for others.
set -eu

version=@VERSION@
# The sum of each archive of this version, as sha256sum prints it. "npm run package" writes them here.
sums='@SUMS@'

# A script that is read from a pipe has the shell's name, and the current folder may be anyone's.
from=
case $0 in *.sh) if [ -f "$0" ]; then from=$(dirname "$0"); fi ;; esac
if [ "$(id -u)" = 0 ]; then prefix=/usr/local; else prefix=$HOME/.local; fi
uninstall=

fail() {
  echo "error: $1" >&2
  exit 1
}

while [ $# -gt 0 ]; do
  case $1 in
    --prefix | --from)
      [ $# -gt 1 ] || fail "$1 needs a value"
      if [ "$1" = --prefix ]; then prefix=$2; else from=$2; fi
      shift
      ;;
    --uninstall) uninstall=yes ;;
    *) fail "unknown option $1: use --prefix FOLDER, --from FOLDER|URL or --uninstall" ;;
  esac
  shift
done

# What was installed, one path per line, relative to the prefix.
list=$prefix/share/doc/gpucloud/installed-files

if [ -n "$uninstall" ]; then
  [ -f "$list" ] || fail "gpucloud is not installed in $prefix"
  while IFS= read -r file; do rm -f "$prefix/$file"; done < "$list"
  rm -f "$list"
  rmdir "$prefix/share/doc/gpucloud"
  echo "Removed gpucloud from $prefix."
  exit 0
fi

case $(uname -s)-$(uname -m) in
  Linux-x86_64) target=linux-x64 ;;
  Linux-aarch64) target=linux-arm64 ;;
  Darwin-x86_64) target=darwin-x64 ;;
  Darwin-arm64) target=darwin-arm64 ;;
  *) fail "there is no executable for $(uname -s) $(uname -m): use the npm package" ;;
esac
# Alpine and others have musl in place of glibc.
case $target in linux-*) if ldd --version 2>&1 | grep -q musl; then target=$target-musl; fi ;; esac
name=gpucloud-$version-$target
archive=$name.tar.xz

case $from in
  '') fail "no archive beside this script: use --from FOLDER or --from URL" ;;
  https://*) ;;
  http://*)
    printf '%s' "$from" | grep -Eq '^http://(localhost|127\.0\.0\.1|\[::1\])(:[0-9]+)?(/|$)' ||
      fail "--from $from: http:// is only for this computer; use https://"
    ;;
esac
wanted=$(printf '%s\n' "$sums" | awk -v file="$archive" '$2 == file { print $1 }')
[ -n "$wanted" ] || fail "this install.sh has no sum for $archive"

if ! mkdir -p "$prefix" 2> /dev/null || [ ! -w "$prefix" ]; then
  fail "can't write to $prefix: use --prefix FOLDER"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# Follows redirects to https:// only. wget can't tell them apart, so it follows none.
download() {
  if command -v curl > /dev/null; then
    curl -fsSL --proto "=${from%%:*}" --proto-redir =https -o "$1" "$2"
  else
    wget -q -t 3 --max-redirect=0 -O "$1" "$2"
  fi
}
case $from in
  http://* | https://*)
    download "$work/$archive" "$from/$archive" || fail "could not download $from/$archive"
    ;;
  *) cp "$from/$archive" "$work/$archive" || fail "$archive is not in $from" ;;
esac

if command -v sha256sum > /dev/null; then
  sum=$(sha256sum "$work/$archive")
else
  sum=$(shasum -a 256 "$work/$archive")
fi
[ "${sum%% *}" = "$wanted" ] ||
  fail "$archive is not the file that this install.sh was published with: nothing was installed"

tar -xJf "$work/$archive" -C "$work"
cd "$work/$name"
find . -type f | sed 's|^\./||' | sort > "$work/files"
while IFS= read -r file; do
  mkdir -p "$prefix/$(dirname "$file")"
  # Under another name first: the old version may be running.
  cp -p "$file" "$prefix/$file.new"
  mv -f "$prefix/$file.new" "$prefix/$file"
done < "$work/files"
cp "$work/files" "$list"

echo "Installed $("$prefix/bin/gpucloud" --version) in $prefix."
case :$PATH: in
  *":$prefix/bin:"*) ;;
  *) echo "Add $prefix/bin to PATH." ;;
esac
