vcl 4.1;
import std;
import directors;
backend o1 { .host = "origin1.internal"; .port = "80"; .max_connections = 300; .connect_timeout = 1s; }
backend o2 { .host = "origin2.internal"; .port = "80"; .max_connections = 300; .connect_timeout = 1s; }
sub vcl_init {
    new origins = directors.shard();
    origins.add_backend(o1);
    origins.add_backend(o2);
    origins.reconfigure();
    return (ok);
}
sub vcl_recv {
    set req.backend_hint = origins.backend(by=URL);
    set req.url = std.querysort(req.url);
    set req.http.Host = std.tolower(req.http.Host);
    unset req.http.Cookie;
    unset req.http.Authorization;
    unset req.http.Cache-Control;
    if (req.method !~ "^(GET|HEAD|OPTIONS)$") { return (synth(405)); }
    if (req.url ~ "^/private/") { return (synth(403)); }
    if (req.url == "/robots.txt") { return (synth(404)); }
    return (hash);
}
sub vcl_backend_response {
    unset beresp.http.Set-Cookie;
    unset beresp.http.X-Amz-Id-2;
    set beresp.ttl = 1d;
    set beresp.grace = 1d;
    set beresp.do_stream = true;
    if (beresp.status == 404 || beresp.status == 403) { set beresp.ttl = 10s; }
}
sub vcl_deliver {
    set resp.http.Access-Control-Allow-Origin = "*";
    set resp.http.Timing-Allow-Origin = "*";
    unset resp.http.X-Varnish;
    unset resp.http.Via;
    if (obj.hits > 0) { set resp.http.X-Cache = "HIT"; } else { set resp.http.X-Cache = "MISS"; }
    set resp.http.X-Hits = obj.hits;
    return (deliver);
}
