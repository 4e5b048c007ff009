#!/bin/sh
# Installs what interop/ needs and is missing: a JDK (11 or newer) and Maven.
#
# Debian and Ubuntu, as root or with sudo that asks nothing. Anywhere else it says
# what is missing and leaves: status 0, since the tests then skip themselves with
# a banner, but status 1 where the environment variable CI is set, because there a
# skip would look like a proof.
set -u

missing() {
	{ command -v javac && javac -version; } >/dev/null 2>&1 || printf ' default-jdk-headless'
	{ command -v mvn && mvn -v; } >/dev/null 2>&1 || printf ' maven'
}

give_up() {
	echo >&2
	echo "*** no Java for interop/: $1" >&2
	echo "*** missing:$(missing). Nothing will be proved against Redisson." >&2
	echo >&2
	[ -z "${CI:-}" ]
	exit $?
}

packages=$(missing)
[ -n "$packages" ] || exit 0

command -v apt-get >/dev/null 2>&1 || give_up "no apt-get here, install them by hand"
root=
if [ "$(id -u)" != 0 ]; then
	sudo -n true 2>/dev/null || give_up "not root, and sudo would ask"
	root="sudo -n"
fi

echo "installing$packages"
# shellcheck disable=SC2086 # two words are two packages
$root env DEBIAN_FRONTEND=noninteractive apt-get update -qq &&
	$root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >/dev/null ||
	give_up "apt-get failed"
[ -z "$(missing)" ] || give_up "apt-get installed them, and they do not run"
