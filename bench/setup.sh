#!/bin/sh
# Installs what gpucloud is compared with, if possible: Debian's hcloud, gh and curl, and openssl
# for a certificate. The table omits what is missing.
set -eu
missing=
for pair in hcloud:hcloud-cli gh:gh curl:curl openssl:openssl; do
  command -v "${pair%%:*}" > /dev/null || missing="$missing ${pair#*:}"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get > /dev/null; then
  echo "Missing, and not installed:$missing" >&2
  exit 0
fi
apt-get update > /dev/null
for package in $missing; do
  DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$package" > /dev/null ||
    echo "Could not install $package." >&2
done
