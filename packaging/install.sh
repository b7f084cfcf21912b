#!/bin/sh
# Installs gpucloud @VERSION@, one executable that needs nothing else, after checking its sum.
#
#   sh install.sh [--prefix FOLDER] [--from FOLDER|URL]
#   sh install.sh --uninstall [--prefix FOLDER]
#   curl -fsSL URL/install.sh | sh -s -- --from URL
#
# The archive and SHA256SUMS are taken from the folder of this script, or from --from. The prefix is
# /usr/local for root and ~/.local for others.
set -eu

version=@VERSION@
from=$(dirname "$0")
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
name=gpucloud-$version-$target
archive=$name.tar.xz

if ! mkdir -p "$prefix" 2> /dev/null || [ ! -w "$prefix" ]; then
  fail "can't write to $prefix: use --prefix FOLDER"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

download() {
  if command -v curl > /dev/null; then curl -fsSL -o "$1" "$2"; else wget -q -t 3 -O "$1" "$2"; fi
}
fetch() {
  case $from in
    http://* | https://*) download "$work/$1" "$from/$1" || fail "could not download $from/$1" ;;
    *) cp "$from/$1" "$work/$1" || fail "$1 is not in $from" ;;
  esac
}
fetch SHA256SUMS
fetch "$archive"

wanted=$(awk -v file="$archive" '$2 == file { print $1 }' "$work/SHA256SUMS")
if command -v sha256sum > /dev/null; then
  sum=$(sha256sum "$work/$archive")
else
  sum=$(shasum -a 256 "$work/$archive")
fi
[ -n "$wanted" ] || fail "SHA256SUMS has no line for $archive"
[ "${sum%% *}" = "$wanted" ] || fail "$archive is not what SHA256SUMS says: nothing was installed"

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
