#!/bin/sh
# The browser of `npm run test:page`: Debian's chromium, unless there is one already.
set -eu
if [ -x "${CHROMIUM:-/usr/bin/chromium}" ]; then
  exit 0
fi
if ! command -v apt-get >/dev/null; then
  echo "chromium is missing and this is no Debian: install it and name it in CHROMIUM" >&2
  exit 1
fi
as_root=""
if [ "$(id -u)" != 0 ]; then
  as_root="sudo"
fi
$as_root apt-get update -qq
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core
