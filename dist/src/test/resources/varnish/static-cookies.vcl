vcl 4.0;
import std;
backend default { .host = "192.0.2.10"; .port = "80"; .connect_timeout = 2s; .first_byte_timeout = 90s; .between_bytes_timeout = 10s; }
sub vcl_recv {
    if (req.method != "GET" && req.method != "HEAD") {
        return (pass);
    }
    if (req.url ~ "^/(admin|cart)") {
        return (pass);
    }
    if (req.url ~ "\.(css|js|png|gif|jp(e)?g|swf|ico)") {
        unset req.http.Cookie;
    }
    if (req.http.Authorization || req.http.Cookie) {
        return (pass);
    }
    return (hash);
}
sub vcl_backend_response {
    if (bereq.url ~ "\.(css|js|png|gif|jp(e)?g|swf|ico)") {
        unset beresp.http.Set-Cookie;
        set beresp.ttl = 1h;
    }
    set beresp.grace = 6h;
    set beresp.keep = 8m;
}
