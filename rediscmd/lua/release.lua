-- Lowers owners' hold counts, or frees mutexes and says so, each for itself. Both
-- work on a server out of memory: it refuses no DEL, PUBLISH or PEXPIRE, and once a
-- script has written, no HSET.
--
-- KEYS[1..n] locks: hash, owner -> hold count
-- ARGV[1] remaining: the hold count to leave, 0 frees the lock
-- ARGV[2] lease in ms, for what remains
-- ARGV[3] publish command, PUBLISH or SPUBLISH
-- ARGV[4..n] owner of each lock in turn
-- Returns 1 when all are freed, else a list: nil when the owner does not hold it,
-- 0 lowered, 1 freed, 2 freed but the server refused to publish, or its error. For a
-- single lock only its entry.

local remaining, lease, publish = ARGV[1], ARGV[2], ARGV[3]

local function lower(key, owner)
  local set = redis.pcall('pexpire', key, lease)
  if type(set) ~= 'table' then
    set = redis.pcall('hset', key, owner, remaining)
  end
  return type(set) == 'table' and set or 0
end

local out, free = {}, {}
for i = 1, #KEYS do
  local key, owner = KEYS[i], ARGV[3 + i]
  local held = redis.pcall('hexists', key, owner)
  if held == 0 then
    out[i] = false
  elseif held ~= 1 then
    out[i] = held
  elseif remaining ~= '0' then
    out[i] = lower(key, owner)
  else
    out[i] = 1
    free[#free + 1] = key
  end
end

local told = true
if #free > 0 then
  redis.call('del', unpack(free))
  for i = 1, #KEYS do
    if out[i] == 1 and type(redis.pcall(publish, channel(KEYS[i]), '0')) == 'table' then
      out[i], told = 2, false
    end
  end
end

if #free == #KEYS and told then
  return 1
elseif #KEYS == 1 then
  return out[1]
end
return out
