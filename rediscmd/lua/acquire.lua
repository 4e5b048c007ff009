-- Takes mutexes, or sets their owners' hold counts, each for itself: one that is
-- held, or that fails, does not stop the others, and once one is taken nothing stops
-- the script. Sending it again changes nothing but the leases, so a lost reply is
-- settled by asking once more.
--
-- KEYS[1..n] locks: hash, owner -> hold count
-- ARGV[1] lease in ms
-- ARGV[2] level: the hold count after this grant; above 1 only its owner gets it
-- ARGV[3] "1": on refusal name the holder
-- ARGV[4..n] owner of each lock in turn
-- Returns nil when all are granted, else a list: nil for a granted one, else its
-- PTTL (-1 no TTL, -2 no key), or {PTTL, first owner, its count} when asked for, or
-- its error. For a single lock only its entry.

local lease, level, want = ARGV[1], ARGV[2], ARGV[3]

local function take(key, owner)
  local set = redis.pcall('hset', key, owner, level)
  if type(set) == 'table' then
    return set
  end
  -- Without a TTL the lock would outlive everybody: better none at all.
  local expiry = redis.pcall('pexpire', key, lease)
  if type(expiry) == 'table' then
    redis.pcall('del', key)
    return expiry
  end
  return false
end

local function ask(key, owner)
  local held = redis.pcall('hexists', key, owner)
  if held == 1 then
    -- The lease first: if it is refused, the count has not moved.
    local set = redis.pcall('pexpire', key, lease)
    if type(set) ~= 'table' then
      set = redis.pcall('hset', key, owner, level)
    end
    return type(set) == 'table' and set
  elseif held ~= 0 then
    return held
  end

  local ttl = redis.pcall('pttl', key)
  if type(ttl) == 'table' then
    return ttl
  elseif ttl == -2 and level == '1' then
    return take(key, owner)
  elseif ttl == -2 or want ~= '1' then
    return ttl
  end
  local found = redis.pcall('hscan', key, '0', 'count', '1')
  if found.err then
    return found
  end
  local page = found[2]
  return {ttl, page[1] or '', tonumber(page[2] or '0') or 0}
end

-- Usually all are free, which one command tells. A lock that is named twice is free
-- for the first who asks only.
local free = level == '1' and redis.call('exists', unpack(KEYS)) == 0
local taken, out, granted = {}, {}, true
for i = 1, #KEYS do
  local key, owner = KEYS[i], ARGV[3 + i]
  if free and not taken[key] then
    taken[key] = true
    out[i] = take(key, owner)
  else
    out[i] = ask(key, owner)
  end
  granted = granted and not out[i]
end

if granted then
  return nil
elseif #KEYS == 1 then
  return out[1]
end
return out
