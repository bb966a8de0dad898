-- wrk ... -- PATH EVERY   about every EVERY-th request of a connection asks for its end; wrk then connects anew.
local plain, last, every, sent = nil, nil, 100, 0

function init(args)
  every = tonumber(args[2])
  plain = wrk.format("GET", args[1])
  last = wrk.format("GET", args[1], { Connection = "close" })
end

function request()
  sent = sent + 1
  if sent % every == 0 then return last end
  return plain
end
