/**
 * The scripts of a Redis store: each is one atomic step on the server.
 *
 * Below the prefix of the store:
 * - `{prefix}{key}`: a hash with the value `v` and the revision `r`; `e`, and Redis' own time to live, where it has one.
 * - `{prefix}~keys`: every key in a sorted set of equal scores, which Redis orders by bytes.
 * - `{prefix}~expiring`: keys that have a time to live, by their expiry in milliseconds. Redis removes the hash; the next
 *   script that runs removes the key from the sets and notifies the watches.
 * - `{prefix}~changes`: a stream of changes, one entry for the batches that were sent together, which names the one before it.
 * - `{prefix}~state`: the revision, and an epoch by which a watch notices that the data was deleted.
 *
 * All keys share one hash tag, and so one slot of a cluster, as a script requires.
 */

/** The keys of every script, in this order. */
export const HELPERS = ['~keys', '~expiring', '~changes', '~state'] as const

const COMMON = `
local keys, expiring, changes, state = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local prefix = ARGV[1]
local kept = tonumber(ARGV[2])
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)

-- As text: Lua writes large numbers with an exponent.
local function next_revision()
  return string.format('%.0f', tonumber(redis.call('HGET', state, 'revision') or '0') + 1)
end

-- One stream entry for all batches of a script: the key and kind of each change, in pairs. Each batch has a revision of its own, by which
-- is counted how many are kept.
local function note(told, revision)
  local before = redis.call('HGET', state, 'last') or '0-0'
  local id = revision .. '-1'
  local first = string.format('%.0f', math.max(0, tonumber(revision) - kept + 1))
  redis.call('XADD', changes, 'MINID', '~', first, id, 'before', before, 'changes', cmsgpack.pack(told))
  redis.call('HSET', state, 'revision', revision, 'last', id)
end

local function drop(key)
  redis.call('ZREM', keys, key)
  redis.call('ZREM', expiring, key)
  return redis.call('DEL', prefix .. key)
end

local function remove_expired(most)
  local due = redis.call('ZRANGEBYSCORE', expiring, '-inf', now, 'LIMIT', 0, most)
  if #due == 0 then return end
  local told = {}
  for _, key in ipairs(due) do
    drop(key)
    told[#told + 1] = key
    told[#told + 1] = 'delete'
  end
  note(told, next_revision())
end

local function start()
  if redis.call('HSETNX', state, 'epoch', ARGV[3]) == 1 then redis.call('DEL', changes) end
end
`

/**
 * ARGV: prefix, kept, epoch, expired at most, and the batches as `commit-arguments.ts` packs them. Returns for each batch `{1, revision}`,
 * or `{0, key, revision or '', …}`.
 */
export const COMMIT = `${COMMON}
start()
remove_expired(tonumber(ARGV[4]))
local given = cmsgpack.unpack(ARGV[5])
local at = 1
local told = {}
local before = tonumber(redis.call('HGET', state, 'revision') or '0')
local current = before
-- Without any, no key has a mark or a time to live.
local has_expiring = redis.call('EXISTS', expiring) == 1

local function find_unmet()
  local unmet = {0}
  local last = at + 3 * tonumber(given[at])
  at = at + 1
  while at <= last do
    local key, kind, wanted = given[at], given[at + 1], given[at + 2]
    at = at + 3
    local found = redis.call('HGET', prefix .. key, 'r')
    local holds
    if kind == 'absent' then holds = not found
    elseif kind == 'present' then holds = found and true
    else holds = found == wanted end
    if not holds then
      unmet[#unmet + 1] = key
      unmet[#unmet + 1] = found or ''
    end
  end
  return unmet
end

local function put(key, value, ttl, revision)
  local is_new = redis.call('HSET', prefix .. key, 'v', value, 'r', revision) == 2
  if is_new then redis.call('ZADD', keys, 0, key) end
  if ttl == '' then
    if not has_expiring then return end
    -- The mark is gone with an entry that has expired, and its place among those that expire may still be there.
    if is_new or redis.call('HDEL', prefix .. key, 'e') == 1 then
      redis.call('ZREM', expiring, key)
      if not is_new then redis.call('PERSIST', prefix .. key) end
    end
  else
    local ending = string.format('%.0f', now + tonumber(ttl))
    redis.call('HSET', prefix .. key, 'e', '1')
    redis.call('PEXPIREAT', prefix .. key, ending)
    redis.call('ZADD', expiring, ending, key)
    has_expiring = true
  end
end

local function commit()
  local unmet = find_unmet()
  local last = at + 4 * tonumber(given[at])
  at = at + 1
  if #unmet > 1 then
    at = last + 1
    return unmet
  end
  local revision = string.format('%.0f', current + 1)
  local first = #told
  while at <= last do
    local key, kind = given[at], given[at + 1]
    local was_there = 1
    if kind == 'put' then put(key, given[at + 2], given[at + 3], revision)
    else was_there = drop(key) end
    at = at + 4
    if was_there == 1 then
      told[#told + 1] = key
      told[#told + 1] = kind
    end
  end
  if #told > first then current = current + 1 end
  return {1, revision}
end

local answers = {}
while at <= #given do answers[#answers + 1] = commit() end
if current > before then note(told, string.format('%.0f', current)) end
return answers
`

/** ARGV: prefix, kept, epoch, low, high, direction, limit, bytes at most. Returns whether there are more, then key, value, revision and mark of expiry. */
export const RANGE = `${COMMON}
local low, high, limit, most = '[' .. ARGV[4], '(' .. ARGV[5], tonumber(ARGV[7]), tonumber(ARGV[8])
if ARGV[5] == '' then high = '+' end
local page = {0}
local count, bytes, offset, step = 0, 0, 0, limit + 1
while true do
  local found
  if ARGV[6] == 'ascending' then
    found = redis.call('ZRANGEBYLEX', keys, low, high, 'LIMIT', offset, step)
  else
    found = redis.call('ZREVRANGEBYLEX', keys, high, low, 'LIMIT', offset, step)
  end
  for _, key in ipairs(found) do
    local held = redis.call('HMGET', prefix .. key, 'v', 'r', 'e')
    -- Expired keys may still be in the set.
    if held[1] then
      if count == limit or bytes >= most then
        page[1] = 1
        return page
      end
      count = count + 1
      bytes = bytes + #held[1]
      page[#page + 1] = key
      page[#page + 1] = held[1]
      page[#page + 1] = held[2]
      page[#page + 1] = held[3] or ''
    end
  end
  if #found < step then return page end
  offset = offset + step
end
`

/** ARGV: prefix, kept, epoch, low, high, number at most. Returns how many, and whether more are left. */
export const CLEAR = `${COMMON}
start()
remove_expired(-1)
local low, high, most = '[' .. ARGV[4], '(' .. ARGV[5], tonumber(ARGV[6])
if ARGV[5] == '' then high = '+' end
local found = redis.call('ZRANGEBYLEX', keys, low, high, 'LIMIT', 0, most + 1)
local told = {}
for at = 1, math.min(#found, most) do
  drop(found[at])
  told[#told + 1] = found[at]
  told[#told + 1] = 'delete'
end
if #told > 0 then note(told, next_revision()) end
return {#told / 2, #found > most and 1 or 0}
`

/** ARGV: prefix, kept, epoch, expired at most. Returns the epoch and the id of the last change. */
export const END = `${COMMON}
start()
remove_expired(tonumber(ARGV[4]))
return {redis.call('HGET', state, 'epoch'), redis.call('HGET', state, 'last') or '0-0'}
`

/**
 * ARGV: prefix, kept, epoch, expired at most, epoch of the cursor, id of the cursor, number at most. Returns nothing if
 * changes are lost, else the last id of all and the batches: id and packed changes, in pairs.
 */
export const CHANGES = `${COMMON}
start()
remove_expired(tonumber(ARGV[4]))
local last = redis.call('HGET', state, 'last') or '0-0'
if redis.call('HGET', state, 'epoch') ~= ARGV[5] then return false end
local at = ARGV[6]
if at == last then return {last} end
local found = redis.call('XRANGE', changes, '(' .. at, '+', 'COUNT', ARGV[7])
-- The batch after the cursor must name the cursor as the one before it.
if #found == 0 or found[1][2][2] ~= at then return false end
local answer = {last}
local count = 0
for _, entry in ipairs(found) do
  if count >= tonumber(ARGV[7]) then break end
  local told = cmsgpack.unpack(entry[2][4])
  count = count + #told / 2
  answer[#answer + 1] = entry[1]
  answer[#answer + 1] = told
end
return answer
`
