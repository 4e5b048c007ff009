-- Reads one owner's hold count. Writes nothing.
--
-- KEYS[1] lock: hash, owner -> hold count
-- ARGV[1] owner
-- Returns {count as text or nil, PTTL}.

return {redis.call('hget', KEYS[1], ARGV[1]), redis.call('pttl', KEYS[1])}
