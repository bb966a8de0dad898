vcl 4.1;
backend packager { .host = "10.7.0.1"; .port = "8080"; .between_bytes_timeout = 5s; }
sub vcl_recv {
    unset req.http.Cookie;
    if (req.url ~ "\.m3u8") { set req.http.X-Kind = "playlist"; }
    if (req.url ~ "^/keys/") { return (pass); }
    set req.url = regsub(req.url, "\?.*", "");
    return (hash);
}
sub vcl_backend_response {
    if (bereq.url ~ "\.m3u8$") { set beresp.ttl = 1s; set beresp.grace = 2s; }
    elsif (bereq.url ~ "\.(ts|m4s)$") { set beresp.ttl = 1h; }
    elsif (bereq.url ~ "\.mp4$") { set beresp.ttl = 30d; }
    unset beresp.http.Set-Cookie;
}
sub vcl_deliver { set resp.http.Access-Control-Allow-Origin = "*"; set resp.http.Access-Control-Expose-Headers = "Content-Length"; }
