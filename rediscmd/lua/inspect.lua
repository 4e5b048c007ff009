-- Reads who holds a mutex and how many listen for its end. Writes nothing.
--
-- KEYS[1] lock: hash, owner -> hold count
-- ARGV[1] publish command, PUBLISH or SPUBLISH: tells which listeners to count
-- Returns {exists 0 or 1, first owner, its count as text, PTTL, listeners},
-- listeners -1 when the server will not say.

local page = redis.call('hscan', KEYS[1], '0', 'count', '1')[2]
local count = 'numsub'
if ARGV[1] == 'SPUBLISH' then
  count = 'shardnumsub'
end
local listeners = redis.pcall('pubsub', count, channel(KEYS[1]))
return {
  redis.call('exists', KEYS[1]),
  page[1] or '',
  page[2] or '0',
  redis.call('pttl', KEYS[1]),
  listeners.err and -1 or tonumber(listeners[2]),
}
