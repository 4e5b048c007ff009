-- Passes a mutex from one owner to another without anybody else getting in
-- between, or frees it when others are due. Sending it again changes nothing.
--
-- KEYS[1] lock: hash, owner -> hold count
-- KEYS[2] channel of the lock
-- ARGV[1] from: the owner now
-- ARGV[2] to: the owner next, with a hold count of 1
-- ARGV[3] lease in ms
-- ARGV[4] yield: 0 never, 1 when others listen on the channel, 2 always
-- ARGV[5] own: how many of the channel's listeners are the sender's
-- ARGV[6] publish command, PUBLISH or SPUBLISH
-- Returns {0, PTTL} when "from" does not hold it, {1, 0} handed over,
-- {2, others} yielded, {3, others} yielded but the server refused to publish;
-- others: how many listen besides the sender, 1 if they were not counted.

local key, from, to, lease, yield = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]

if redis.call('hexists', key, to) == 1 then
  redis.call('pexpire', key, lease)
  return {1, 0}
end
if redis.call('hexists', key, from) == 0 then
  return {0, redis.call('pttl', key)}
end

local others = 1
if yield == '1' then
  local count = 'numsub'
  if ARGV[6] == 'SPUBLISH' then
    count = 'shardnumsub'
  end
  local listeners = redis.pcall('pubsub', count, KEYS[2])
  -- A server that will not say is taken for one where others wait.
  if not listeners.err then
    others = tonumber(listeners[2]) - tonumber(ARGV[5])
  end
  if others > 0 then
    yield = '2'
  end
end
if yield == '2' then
  redis.call('del', key)
  if type(redis.pcall(ARGV[6], KEYS[2], '0')) == 'table' then
    return {3, others}
  end
  return {2, others}
end

-- In this order a refusal leaves "from" the owner; and since a script that has
-- written is not stopped for lack of memory, a full server passes locks on.
redis.call('pexpire', key, lease)
redis.call('hset', key, to, '1')
redis.call('hdel', key, from)
return {1, 0}
