vcl 4.0;
backend default { .host = "127.0.0.1"; .port = "8080"; .connect_timeout = 5s; .first_byte_timeout = 30s; }
acl purge { "127.0.0.1"; }
sub vcl_recv {
    set req.http.X-Forwarded-By = "varnish";
    if (req.method == "PURGE") { if (!client.ip ~ purge) { return (synth(405)); } return (purge); }
    if (req.method != "GET" && req.method != "HEAD") { return (pass); }
    if (req.url ~ "^/administrator") { return (pass); }
    if (req.url ~ "^/component/banners") { return (pass); }
    if (req.http.Cookie ~ "joomla_user_state") { return (pass); }
    if (req.http.Authorization) { return (pass); }
    set req.url = regsub(req.url, "\?$", "");
    unset req.http.Cookie;
    return (hash);
}
sub vcl_backend_response {
    unset beresp.http.Pragma;
    unset beresp.http.Expires;
    if (beresp.ttl <= 0s) { set beresp.uncacheable = true; set beresp.ttl = 2m; return (deliver); }
    set beresp.ttl = 180s;
    set beresp.grace = 12h;
}
sub vcl_deliver {
    if (obj.hits > 0) { set resp.http.X-Cache = "HIT"; } else { set resp.http.X-Cache = "MISS"; }
    unset resp.http.X-Powered-By;
    unset resp.http.X-Varnish;
    unset resp.http.Via;
}
