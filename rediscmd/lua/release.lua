-- Lowers an owner's hold count, or frees the mutex and says so. Both work on a
-- server out of memory: it refuses no DEL, PUBLISH or PEXPIRE, and once a script
-- has written, no HSET.
--
-- KEYS[1] lock: hash, owner -> hold count
-- KEYS[2] channel of the lock
-- ARGV[1] owner
-- ARGV[2] remaining: the hold count to leave, 0 frees the lock
-- ARGV[3] lease in ms, for what remains
-- ARGV[4] publish command, PUBLISH or SPUBLISH
-- Returns nil when the owner does not hold it, 0 lowered, 1 freed,
-- 2 freed but the server refused to publish.

local key, owner, remaining = KEYS[1], ARGV[1], ARGV[2]

if redis.call('hexists', key, owner) == 0 then
  return nil
end
if remaining ~= '0' then
  redis.call('pexpire', key, ARGV[3])
  redis.call('hset', key, owner, remaining)
  return 0
end
redis.call('del', key)
if type(redis.pcall(ARGV[4], KEYS[2], '0')) == 'table' then
  return 2
end
return 1
