-- wrk ... -- PREFIX TAG   a URL that was never asked for on every request: PREFIX/TAG-<thread>-<n>.
local prefix, sent, threads = "", 0, 0

function setup(thread)
  thread:set("id", threads)
  threads = threads + 1
end

function init(args)
  prefix = args[1] .. "/" .. args[2] .. "-" .. id .. "-"
end

function request()
  sent = sent + 1
  return wrk.format("GET", prefix .. sent)
end
