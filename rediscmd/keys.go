package rediscmd

import "strings"

// Everything holdfast puts into Redis or listens to. The names are Redisson's:
// a Java service must find the same lock under the same name.
//
//	what            name                            type     content
//	lock            <name>                          hash     owner -> hold count, TTL = lease
//	lock channel    redisson_lock__channel:{<name>} channel  "0": freed
//
// Redisson reads every payload on a lock channel as a decimal number.
//
// Redisson also leaves redisson_unlock_latch:{<name>}:<request> (a string, some
// 20 s) next to a lock that it unlocks. holdfast neither reads nor writes those:
// an owner number is unique to its acquisition, so an unlock whose reply was lost
// is settled by reading the owner's field.
//
// Braces are added only to names without "{", so that everything derived from a
// name lies in the name's cluster slot.

// keyWithPrefix builds "prefix:{name}", or "prefix:name" when the name brings braces.
func keyWithPrefix(prefix, name string) string {
	if strings.IndexByte(name, '{') >= 0 {
		return prefix + ":" + name
	}
	return prefix + ":{" + name + "}"
}

// keyWithSuffix builds "{name}:suffix", or "name:suffix" when the name brings braces.
func keyWithSuffix(name, suffix string) string {
	if strings.IndexByte(name, '{') >= 0 {
		return name + ":" + suffix
	}
	return "{" + name + "}:" + suffix
}

// lockChannel is where the end of a mutex is published.
func lockChannel(name string) string { return keyWithPrefix("redisson_lock__channel", name) }
