-- Frees a mutex whoever holds it, and says so.
--
-- KEYS[1] lock: any type, as Redisson's forceUnlock deletes any
-- ARGV[1] publish command, PUBLISH or SPUBLISH
-- Returns 0 when there was nothing, 1 freed, 2 freed but the server refused
-- to publish.

if redis.call('del', KEYS[1]) == 0 then
  return 0
end
if type(redis.pcall(ARGV[1], channel(KEYS[1]), '0')) == 'table' then
  return 2
end
return 1
