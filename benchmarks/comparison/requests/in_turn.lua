-- wrk ... -- keep|close PATH PATH ...   the paths in turn; with close each request asks for the connection's end.
local requests, sent = {}, 0

function init(args)
  local fields = {}
  if args[1] == "close" then fields["Connection"] = "close" end
  for i = 2, #args do requests[#requests + 1] = wrk.format("GET", args[i], fields) end
end

function request()
  sent = sent % #requests + 1
  return requests[sent]
end
