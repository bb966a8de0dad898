vcl 4.1;
import std;
probe health { .url = "/ok"; .interval = 5s; .timeout = 1s; .window = 5; .threshold = 3; }
backend app { .host = "app.internal"; .port = "8080"; .probe = health; }
sub vcl_recv {
    if (std.healthy(req.backend_hint)) { set req.grace = 10s; } else { set req.grace = 24h; }
    if (req.method != "GET" && req.method != "HEAD") { return (pass); }
    unset req.http.Cookie;
    return (hash);
}
sub vcl_backend_response {
    set beresp.ttl = 1m;
    set beresp.grace = 24h;
    set beresp.keep = 8h;
    if (beresp.status >= 500 && bereq.is_bgfetch) { return (abandon); }
    if (beresp.status >= 500) { set beresp.ttl = 0s; }
}
sub vcl_deliver { set resp.http.X-Grace = "on"; }
