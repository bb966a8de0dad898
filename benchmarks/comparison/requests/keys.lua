-- wrk ... -- zipf|uniform COUNT SEED   the keys /n/0 to /n/COUNT-1, drawn at random; zipf has the exponent 0.99 and
-- goes round in 262,144 draws that were made beforehand.
local DRAWS = 262144
local requests, drawn, sent, count, threads = {}, {}, 0, 0, 0

function setup(thread)
  thread:set("id", threads)
  threads = threads + 1
end

local function draw_zipf()
  local cumulated, total = {}, 0
  for rank = 1, count do
    total = total + 1 / rank ^ 0.99
    cumulated[rank] = total
  end
  for i = 1, DRAWS do
    local u, low, high = math.random() * total, 1, count
    while low < high do
      local middle = math.floor((low + high) / 2)
      if cumulated[middle] < u then low = middle + 1 else high = middle end
    end
    drawn[i] = requests[low]
  end
end

function init(args)
  count = tonumber(args[2])
  math.randomseed(tonumber(args[3]) + id)
  for i = 1, count do requests[i] = wrk.format("GET", "/n/" .. (i - 1)) end
  if args[1] == "zipf" then
    draw_zipf()
    request = function()
      sent = sent % DRAWS + 1
      return drawn[sent]
    end
  else
    request = function() return requests[math.random(count)] end
  end
end
