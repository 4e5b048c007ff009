-- Extends the leases that their owners still hold; the others are left alone. A
-- key that is no lock any more counts as not held and does not stop the rest. A
-- lease that is longer already stays: a renewal may overtake an extension on
-- another connection, and the longer promise stands.
--
-- KEYS[1..n] locks: hash, owner -> hold count
-- ARGV[1..2n] lease in ms and owner, for each key in turn
-- Returns a list of n: 1 extended, 0 not held.

local out = {}
for i = 1, #KEYS do
  local held = redis.pcall('hexists', KEYS[i], ARGV[2 * i])
  if held == 1 then
    -- Not pcall: "read only replica" must not look like "not held".
    if redis.call('pttl', KEYS[i]) < tonumber(ARGV[2 * i - 1]) then
      redis.call('pexpire', KEYS[i], ARGV[2 * i - 1])
    end
    out[i] = 1
  elseif held == 0 or string.find(held.err, 'WRONGTYPE', 1, true) then
    out[i] = 0
  else
    return held
  end
end
return out
