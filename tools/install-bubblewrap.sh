#!/bin/sh
# What makes sandboxes: Debian's bubblewrap, unless there is one already. Tests of what a sandbox holds back need it.
set -eu
if command -v bwrap >/dev/null; then
  exit 0
fi
if ! command -v apt-get >/dev/null; then
  echo "bubblewrap is missing and this is no Debian: install it" >&2
  exit 1
fi
as_root=""
if [ "$(id -u)" != 0 ]; then
  as_root="sudo"
fi
$as_root apt-get update -qq
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends bubblewrap
