vcl 4.0;
import std;
backend default {
    .host = "127.0.0.1";
    .port = "8080";
    .first_byte_timeout = 600s;
    .probe = { .url = "/health_check.php"; .timeout = 2s; .interval = 5s; .window = 10; .threshold = 5; }
}
acl purge { "localhost"; "10.0.0.0"/24; }
sub vcl_recv {
    if (req.restarts > 0) { set req.hash_always_miss = true; }
    if (req.method == "PURGE") {
        if (client.ip !~ purge) { return (synth(405, "Method not allowed")); }
        return (purge);
    }
    if (req.method != "GET" && req.method != "HEAD" && req.method != "PUT" && req.method != "POST" && req.method != "TRACE" && req.method != "OPTIONS" && req.method != "DELETE") { return (pipe); }
    if (req.method != "GET" && req.method != "HEAD") { return (pass); }
    if (req.url ~ "/customer" || req.url ~ "/checkout") { return (pass); }
    if (req.url ~ "^/(pub/)?(health_check.php)$") { return (pass); }
    if (req.url ~ "(\?|&)(gclid|cx|ie|cof|siteurl|zanpid|origin|fbclid|mc_[a-z]+|utm_[a-z]+|_bta_[a-z]+)=") {
        set req.url = regsuball(req.url, "(gclid|cx|ie|cof|siteurl|zanpid|origin|fbclid|mc_[a-z]+|utm_[a-z]+|_bta_[a-z]+)=[-_A-z0-9+()%.]+&?", "");
        set req.url = regsub(req.url, "[?|&]+$", "");
    }
    if (req.http.Authorization ~ "^Bearer") { return (pass); }
    if (req.url ~ "^/(pub/)?(media|static)/.*\.(ico|html|css|js|jpg|jpeg|gif|png|webp|svg|woff2)$") {
        unset req.http.Https;
        unset req.http.Cookie;
    }
    return (hash);
}
sub vcl_hash {
    if (req.http.X-Forwarded-Proto) { hash_data(req.http.X-Forwarded-Proto); }
    if (req.http.Store) { hash_data(req.http.Store); }
}
sub vcl_backend_response {
    set beresp.grace = 3d;
    if (beresp.http.content-type ~ "text") { set beresp.do_esi = true; }
    if (bereq.url ~ "\.js$" || beresp.http.content-type ~ "text") { set beresp.do_gzip = true; }
    if (beresp.http.content-type ~ "^(text/|application/(json|javascript))") { set beresp.do_gzip = true; }
    if (beresp.ttl <= 0s || beresp.http.Surrogate-control ~ "no-store" || beresp.http.Vary == "*") {
        set beresp.ttl = 120s;
        set beresp.uncacheable = true;
    }
    if (beresp.status != 200 && beresp.status != 404) { set beresp.ttl = 0s; set beresp.uncacheable = true; return (deliver); }
    return (deliver);
}
sub vcl_deliver {
    if (obj.hits > 0) { set resp.http.X-Cache = "HIT"; } else { set resp.http.X-Cache = "MISS"; }
    unset resp.http.X-Magento-Debug;
    unset resp.http.X-Magento-Tags;
    unset resp.http.X-Powered-By;
    unset resp.http.Server;
    unset resp.http.X-Varnish;
    unset resp.http.Via;
    unset resp.http.Link;
}
