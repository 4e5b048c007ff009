-- The channel on which a mutex is declared free: keys.go's lockChannel, for scripts.
local function channel(name)
  if string.find(name, '{', 1, true) then
    return 'redisson_lock__channel:' .. name
  end
  return 'redisson_lock__channel:{' .. name .. '}'
end

