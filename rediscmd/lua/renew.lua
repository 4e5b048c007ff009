-- Extends the leases that their owners still hold; the others are left alone. A
-- key that is no lock any more counts as not held and does not stop the rest. A
-- lease that is longer already stays: a renewal may overtake an extension on
-- another connection, and the longer promise stands.
--
-- KEYS[1..n] locks: hash, owner -> hold count
-- ARGV[1] lease in ms
-- ARGV[2] what all owners begin with
-- ARGV[3..n] how the owner of each lock in turn goes on
-- Returns 1 when all are extended, else a list: 1 extended, 0 not held. For a single
-- lock only its entry.

local lease = tonumber(ARGV[1])
local out, all = {}, true
for i = 1, #KEYS do
  local held = redis.pcall('hexists', KEYS[i], ARGV[2] .. ARGV[2 + i])
  if held == 1 then
    -- Not pcall: "read only replica" must not look like "not held".
    if redis.call('pttl', KEYS[i]) < lease then
      redis.call('pexpire', KEYS[i], ARGV[1])
    end
    out[i] = 1
  elseif held == 0 or string.find(held.err, 'WRONGTYPE', 1, true) then
    out[i], all = 0, false
  else
    return held
  end
end

if all then
  return 1
elseif #KEYS == 1 then
  return out[1]
end
return out
