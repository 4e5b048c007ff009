-- Passes a mutex from one owner to another without anybody else getting in
-- between, or frees it when others are due. Sending it again changes nothing.
--
-- KEYS[1] lock: hash, owner -> hold count
-- ARGV[1] from: the owner now
-- ARGV[2] to: the owner next, with a hold count of 1
-- ARGV[3] lease in ms, 0 leaves the TTL as it is
-- ARGV[4] yield: 0 never, 1 when others listen on the channel, 2 always
-- ARGV[5] own: how many of the channel's listeners are the sender's
-- ARGV[6] publish command, PUBLISH or SPUBLISH
-- Returns {0, PTTL} when "from" does not hold it, {1, 0} handed over,
-- {2, others} yielded, {3, others} yielded but the server refused to publish;
-- others: how many listen besides the sender, 1 if they were not counted.

local key, from, to, lease, yield = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]

-- A new call of the same owner: there is nothing to move.
if from == to then
  if redis.call('hexists', key, to) == 0 then
    return {0, redis.call('pttl', key)}
  end
  if lease ~= '0' then
    redis.call('pexpire', key, lease)
  end
  return {1, 0}
end

local others = 1
if yield == '1' then
  local count = 'numsub'
  if ARGV[6] == 'SPUBLISH' then
    count = 'shardnumsub'
  end
  local listeners = redis.pcall('pubsub', count, channel(key))
  -- A server that will not say is taken for one where others wait.
  if not listeners.err then
    others = tonumber(listeners[2]) - tonumber(ARGV[5])
  end
  if others > 0 then
    yield = '2'
  end
end
if yield == '2' and redis.call('hexists', key, to) == 0 then
  if redis.call('hexists', key, from) == 0 then
    return {0, redis.call('pttl', key)}
  end
  redis.call('del', key)
  if type(redis.pcall(ARGV[6], channel(key), '0')) == 'table' then
    return {3, others}
  end
  return {2, others}
end

-- The next owner first, so that the key and its TTL stay; it goes again if the one
-- before turns out not to be there.
local new = redis.pcall('hset', key, to, '1')
if type(new) == 'table' then
  -- Out of memory, if not worse. HDEL is let through, and a script that has written,
  -- were it nothing, is not stopped any more: a full server passes locks on.
  if redis.call('hexists', key, to) == 1 then
    new = 0
  elseif redis.call('hexists', key, from) == 1 then
    redis.call('hdel', key, to)
    new = redis.call('hset', key, to, '1')
  else
    return {0, redis.call('pttl', key)}
  end
end
local gone = redis.pcall('hdel', key, from)
if type(gone) == 'table' then
  if new == 1 and redis.call('hexists', key, from) == 0 then
    redis.call('del', key) -- it was free: not one without a TTL
  end
  return gone
elseif gone == 0 and new == 1 then
  redis.call('hdel', key, to)
  return {0, redis.call('pttl', key)}
end
if lease ~= '0' then
  local set = redis.pcall('pexpire', key, lease)
  if type(set) == 'table' then
    if new == 1 then
      redis.call('hset', key, from, '1')
      redis.call('hdel', key, to)
    end
    return set
  end
end
return {1, 0}
