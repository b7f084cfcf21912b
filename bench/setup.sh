#!/bin/sh
# Installs what gpucloud is measured beside, where that is possible: hcloud, gh and curl as Debian
# packs them, and openssl for a certificate. What is missing is left out of the table.
set -eu
missing=
for pair in hcloud:hcloud-cli gh:gh curl:curl openssl:openssl; do
  command -v "${pair%%:*}" > /dev/null || missing="$missing ${pair#*:}"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get > /dev/null; then
  echo "not here, and not installed:$missing" >&2
  exit 0
fi
apt-get update > /dev/null
for package in $missing; do
  DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$package" > /dev/null ||
    echo "could not be installed: $package" >&2
done
