-- Takes a mutex, or sets its owner's hold count. Sending it again changes nothing
-- but the lease, so a lost reply is settled by asking once more.
--
-- KEYS[1] lock: hash, owner -> hold count
-- ARGV[1] lease in ms
-- ARGV[2] owner
-- ARGV[3] level: the hold count after this grant; above 1 only its owner gets it
-- ARGV[4] "1": on refusal name the holder
-- Returns nil when granted, else the PTTL (-1 no TTL, -2 no key),
-- or {PTTL, first owner, its count} when asked for.

local key, lease, owner, level = KEYS[1], ARGV[1], ARGV[2], ARGV[3]

if redis.call('exists', key) == 0 then
  if level == '1' then
    redis.call('hset', key, owner, level)
    -- Without a TTL the lock would outlive everybody: better none at all.
    local expiry = redis.pcall('pexpire', key, lease)
    if type(expiry) == 'table' then
      redis.call('del', key)
      return expiry
    end
    return nil
  end
elseif redis.call('hexists', key, owner) == 1 then
  -- The lease first: if it is refused, the count has not moved.
  redis.call('pexpire', key, lease)
  redis.call('hset', key, owner, level)
  return nil
end

local ttl = redis.call('pttl', key)
if ARGV[4] ~= '1' or ttl == -2 then
  return ttl
end
local page = redis.call('hscan', key, '0', 'count', '1')[2]
return {ttl, page[1] or '', tonumber(page[2] or '0') or 0}
