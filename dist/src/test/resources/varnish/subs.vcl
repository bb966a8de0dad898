vcl 4.1;
import std;
import cookie from "/usr/lib/varnish/vmods/libvmod_cookie.so";
backend default { .host = "a.internal"; .host_header = "a.example"; .proxy_header = 2; }
backend nobody none;
sub choose_backend {
    if (req.http.host == "gone.example") { set req.backend_hint = nobody; }
    std.log("chosen");
}
sub unused { set req.http.X = "1"; }
sub vcl_recv {
    call choose_backend;
    call missing_sub;
    if (req.http.host == "nocache.example") { return (pass); }
    set req.grace = 20s;
    set req.hash_always_miss = true;
    cookie.parse(req.http.cookie);
    C{ int x; }C
    if (req.restarts > 0) { set req.ttl = 1s; }
    return (hash);
}
sub vcl_hit { return (deliver); }
sub vcl_miss { return (fetch); }
sub vcl_pass { return (fetch); }
sub vcl_fini { return (ok); }
sub vcl_recv { if (req.url ~ "^/second/") { return (pass); } }
