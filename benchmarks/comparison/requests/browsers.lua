-- wrk ... -- TAG COUNT PATH ...   requests as browsers send them, with 20 fields: of 100, 93 are for a stored object, 4
-- for one with the entity-tag that the browser has (If-None-Match, a 21st field), 3 for a URL never asked for. The
-- stored objects are PATH0 to PATH<COUNT-1> of each PATH, and their entity-tags are their paths.
local stored, known, new_tail, prefix = {}, {}, {}, ""
local sent, threads = 0, 0

local AGENTS = {
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/125.0.0.0 Safari/537.36",
  "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.6478.71 Mobile Safari/537.36",
}
local LANGUAGES = { "en-US,en;q=0.9", "de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7", "fr-FR,fr;q=0.9,en;q=0.6" }

function setup(thread)
  thread:set("id", threads)
  threads = threads + 1
end

-- Everything behind the request line, for one of some browsers that differ.
local function fields(browser)
  local kind = browser % 3 + 1
  return table.concat({
    "Host: " .. wrk.headers["Host"],
    "Connection: keep-alive",
    'sec-ch-ua: "Not/A)Brand";v="8", "Chromium";v="126", "Google Chrome";v="126"',
    "sec-ch-ua-mobile: " .. (kind == 3 and "?1" or "?0"),
    'sec-ch-ua-platform: "' .. (kind == 1 and "Windows" or kind == 2 and "macOS" or "Android") .. '"',
    "DNT: 1",
    "Upgrade-Insecure-Requests: 1",
    "User-Agent: " .. AGENTS[kind],
    "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8",
    "Sec-GPC: 1",
    "Sec-Fetch-Site: same-origin",
    "Sec-Fetch-Mode: navigate",
    "Sec-Fetch-User: ?1",
    "Sec-Fetch-Dest: document",
    "Referer: http://" .. wrk.headers["Host"] .. "/articles/2026/index.html?page=" .. browser,
    "Accept-Encoding: gzip, deflate, br, zstd",
    "Accept-Language: " .. LANGUAGES[kind],
    "Cookie: session=" .. string.format("%032x", browser * 7919) .. "; _ga=GA1.2." .. 100000000 + browser
      .. ".1718000000; theme=dark; consent=eyJhIjoxLCJiIjoxfQ",
    "Priority: u=0, i",
    "X-Requested-With: com.example.reader",
  }, "\r\n") .. "\r\n"
end

function init(args)
  local count, n = tonumber(args[2]), 0
  prefix = args[3]
  for i = 3, #args do
    for key = 0, count - 1 do
      n = n + 1
      local path = args[i] .. key
      local head = "GET " .. path .. " HTTP/1.1\r\n" .. fields(n)
      stored[n] = head .. "\r\n"
      known[n] = head .. 'If-None-Match: "' .. path .. '"\r\n\r\n'
    end
  end
  for browser = 1, 64 do new_tail[browser] = " HTTP/1.1\r\n" .. fields(browser) .. "\r\n" end
  prefix = "GET " .. prefix .. args[1] .. "-" .. id .. "-"
  math.randomseed(20260101 + id)
end

function request()
  local share = math.random(100)
  if share <= 93 then return stored[math.random(#stored)] end
  if share <= 97 then return known[math.random(#known)] end
  sent = sent + 1
  return prefix .. sent .. new_tail[sent % 64 + 1]
end
