vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "8080"; }
acl office { "192.0.2.0"/24; }
sub vcl_recv {
    if (req.url ~ "^/old/") { return (synth(750, "https://www.example/new/")); }
    if (req.http.host == "example" && req.method == "GET") { return (synth(751)); }
    if (req.url == "/health") { return (synth(200, "OK")); }
    if (req.http.User-Agent ~ "badbot") { return (synth(429)); }
    set req.http.X-Edge = "1";
    unset req.http.X-Debug;
    if (req.http.User-Agent ~ "Mobile") { set req.http.X-Device = "mobile"; }
}
sub vcl_backend_fetch {
    unset bereq.http.X-Internal;
    set bereq.http.X-Fetch = "edge" + "-1";
    set bereq.http.X-Url = bereq.url;
}
sub vcl_backend_response {
    set beresp.http.X-Stored = "yes";
    unset beresp.http.X-Powered-By;
    if (bereq.url ~ "\.(css|js)$") { set beresp.http.Cache-Control = "public, max-age=600"; }
    if (beresp.status >= 500) { set beresp.http.X-Failed = "origin"; }
    unset beresp.http.Date;
}
sub vcl_deliver {
    if (obj.hits > 0) { set resp.http.X-Cache = "HIT"; } else { set resp.http.X-Cache = "MISS"; }
    set resp.http.X-Frame-Options = "DENY";
    if (client.ip !~ office) { unset resp.http.X-Stored; }
    if (resp.http.Content-Type ~ "^text/html") { set resp.http.X-Robots-Tag = "noarchive"; }
    set resp.http.X-Age = obj.age;
    if (req.restarts > 0) { set resp.http.X-Restarts = "yes"; }
}
sub vcl_synth {
    if (resp.status == 750) {
        set resp.http.Location = resp.reason;
        set resp.status = 302;
        return (deliver);
    }
    if (resp.status == 751) {
        set resp.status = 301;
        set resp.http.Location = "https://www." + req.http.host + req.url;
        return (deliver);
    }
}
