vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "8000"; }
sub vcl_backend_response {
    if (bereq.url ~ "^/api/" && bereq.http.host == "api.example") { set beresp.ttl = 10s; }
    if (bereq.url ~ "^/live/") { set beresp.ttl = 0s; set beresp.uncacheable = true; }
    if (beresp.http.Content-Type ~ "image") { set beresp.ttl = 1w; }
    if (bereq.url ~ "\.html$") { set beresp.do_esi = true; set beresp.http.Cache-Control = "public, max-age=60"; }
    if (bereq.method == "POST") { set beresp.uncacheable = true; }
    if (beresp.status == 301) { set beresp.ttl = 5m; }
    if (beresp.status == 403) { set beresp.ttl = 1m; }
    unset beresp.http.Set-Cookie;
    set beresp.do_stream = true;
    set beresp.storage_hint = "large";
    if (beresp.http.Cache-Control ~ "private") { return (pass(120s)); }
    return (retry);
}
sub vcl_deliver {
    if (resp.status == 200) { set resp.http.X-Frame-Options = "DENY"; }
    if (resp.status != 200) { unset resp.http.X-Page; }
    if (resp.status < 300) { set resp.http.X-Kind = "content"; }
    if (resp.status >= 302) { set resp.http.X-Kind = "other"; }
    if (resp.status >= 400) { set resp.http.X-Kind = "error"; }
}
