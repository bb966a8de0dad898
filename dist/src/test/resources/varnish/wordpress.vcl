vcl 4.1;
import std;
backend default { .host = "127.0.0.1"; .port = "8080"; .first_byte_timeout = 300s; .max_connections = 800; }
acl purge { "localhost"; "127.0.0.1"; "::1"; }
sub vcl_recv {
    if (req.http.X-Forwarded-Proto == "https") { set req.http.X-Forwarded-Port = "443"; }
    if (req.method == "PURGE") {
        if (!client.ip ~ purge) { return (synth(405, "not allowed")); }
        return (purge);
    }
    if (req.url ~ "wp-(login|admin)" || req.url ~ "preview=true" || req.url ~ "^/xmlrpc\.php") { return (pass); }
    if (req.http.X-Requested-With == "XMLHttpRequest") { return (pass); }
    set req.http.Cookie = regsuball(req.http.Cookie, "has_js=[^;]+(; )?", "");
    if (req.http.cookie ~ "^\s*$") { unset req.http.cookie; }
    if (req.http.cookie ~ "wordpress_logged_in") { return (pass); }
    if (!(req.url ~ "wp-(login|admin)")) { unset req.http.cookie; }
}
sub vcl_backend_response {
    if (beresp.http.Content-Type ~ "text") { set beresp.do_gzip = true; }
    if (beresp.status == 404 || beresp.status == 410) { set beresp.ttl = 30s; }
    if (beresp.status >= 500) { set beresp.uncacheable = true; return (deliver); }
    if (beresp.ttl <= 0s || beresp.http.Set-Cookie || beresp.http.Vary == "*") { set beresp.ttl = 120s; set beresp.uncacheable = true; return (deliver); }
    if (beresp.status == 503) { return (abandon); }
    set beresp.http.x-url = bereq.url;
    set beresp.ttl = 12h;
}
sub vcl_deliver {
    if (obj.hits > 0) { set resp.http.X-Cache = "HIT"; } else { set resp.http.X-Cache = "MISS"; }
    set resp.http.X-Cache-Hits = obj.hits;
    unset resp.http.X-Varnish;
    unset resp.http.Via;
    unset resp.http.Server;
    unset resp.http.X-Powered-By;
    return (deliver);
}
