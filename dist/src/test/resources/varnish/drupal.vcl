vcl 4.1;
backend default { .host = "10.0.0.5"; .port = "80"; .connect_timeout = 5s; .first_byte_timeout = 120s; .between_bytes_timeout = 30s; }
acl purgers { "127.0.0.1"; "10.0.0.0"/16; }
sub vcl_recv {
    if (req.method == "PURGE") {
        if (!client.ip ~ purgers) { return (synth(403, "Forbidden")); }
        return (purge);
    }
    if (req.method == "BAN") {
        if (!client.ip ~ purgers) { return (synth(403, "Forbidden")); }
        ban("obj.http.Cache-Tags ~ " + req.http.Cache-Tags);
        return (synth(200, "Ban added"));
    }
    if (req.url ~ "^/(admin|user|node/add|batch)") { return (pass); }
    if (req.url ~ "^/(cron|install|update)\.php") { return (synth(404, "Not found")); }
    if (req.url ~ "(?i)\.(pdf|asc|dat|txt|doc|xls|ppt|tgz|csv|png|gif|jpeg|jpg|ico|swf|css|js|svg|woff)(\?.*)?$") { unset req.http.Cookie; }
    if (req.http.Cookie ~ "SESS|NO_CACHE") { return (pass); }
    unset req.http.Cookie;
}
sub vcl_backend_response {
    if (bereq.url ~ "(?i)\.(css|js|png|gif|jpg|svg|woff2)(\?.*)?$") { unset beresp.http.Set-Cookie; set beresp.ttl = 7d; }
    if (beresp.status == 404) { set beresp.ttl = 1m; }
    set beresp.grace = 6h;
    unset beresp.http.X-Drupal-Dynamic-Cache;
}
sub vcl_deliver {
    unset resp.http.X-Generator;
    unset resp.http.Cache-Tags;
    if (obj.hits > 0) { set resp.http.X-Varnish-Cache = "HIT"; } else { set resp.http.X-Varnish-Cache = "MISS"; }
}
