#!/usr/bin/env bash
# Makes sure that there is a redis-server, which many tests start for themselves.
#
# Exit code 0 without one means: this machine is no CI, nothing could be
# installed without asking, and the tests that need a server will be skipped.
set -euo pipefail

have() { command -v "$1" >/dev/null 2>&1; }

found() {
  have redis-server || return 1
  redis-server --version
  exit 0
}

apt() {
  export DEBIAN_FRONTEND=noninteractive
  "$@" apt-get -o DPkg::Lock::Timeout=120 -o Acquire::Retries=3 update -q
  "$@" apt-get -o DPkg::Lock::Timeout=120 -o Acquire::Retries=3 install -qy --no-install-recommends redis-server
}

found || true
echo "redis-server is missing; trying to install it"
if have apt-get && [ "$(id -u)" = 0 ]; then
  apt env || true
elif have apt-get && have sudo && sudo -n true 2>/dev/null; then
  apt sudo -n --preserve-env=DEBIAN_FRONTEND || true
elif have brew; then
  brew install redis || true
fi
found || true

cat >&2 <<'END'
**********************************************************************
  redis-server is not installed, and could not be.
  The tests that need a real server are SKIPPED: a green run without it
  proves nothing about scripts, wire format, faults or interoperability.
  See CONTRIBUTING.md, "What a green run without redis-server did not prove".
**********************************************************************
END
if [ -n "${CI:-}" ]; then
  echo "CI is set: that is an error" >&2
  exit 1
fi
