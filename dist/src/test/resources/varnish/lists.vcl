vcl 4.1;
backend default { .host = "10.10.0.1"; .port = "80"; .probe = { .url = "/"; } }
sub vcl_recv {
    if (req.http.host == "www.lists.example") { return (synth(750, "https://lists.example" + req.url)); }
    if (req.url ~ "^/pipermail/") { unset req.http.Cookie; return (hash); }
    if (req.url ~ "^/cgi-bin/") { return (pass); }
    if (req.url == "/healthz") { return (synth(200, "OK")); }
    if (req.http.Cookie) { return (pass); }
}
sub vcl_synth {
    if (resp.status == 750) { set resp.http.Location = resp.reason; set resp.status = 301; return (deliver); }
}
sub vcl_backend_response {
    if (bereq.url ~ "^/pipermail/") { set beresp.ttl = 1h; }
    if (beresp.http.Cache-Control ~ "private") { set beresp.uncacheable = true; }
    if (beresp.status == 301 || beresp.status == 302) { set beresp.ttl = 5m; }
    set beresp.grace = 10m;
}
sub vcl_deliver { set resp.http.Referrer-Policy = "same-origin"; return (deliver); }
