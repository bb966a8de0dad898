vcl 4.1;
backend api { .host = "api.internal"; .port = "9000"; .first_byte_timeout = 15s; .between_bytes_timeout = 10s; }
sub vcl_recv {
    if (req.method == "OPTIONS") { return (pass); }
    if (req.http.Authorization) { return (pass); }
    if (req.url ~ "^/v1/(me|session)") { return (pass); }
    if (req.url !~ "^/v[12]/") { return (synth(404)); }
    if (req.http.X-Api-Key == "blocked") { return (synth(403)); }
    if (req.http.Upgrade ~ "(?i)websocket") { return (pipe); }
    set req.http.X-Request-Source = "edge";
}
sub vcl_pipe {
    if (req.http.upgrade) { set bereq.http.upgrade = req.http.upgrade; set bereq.http.connection = req.http.connection; }
}
sub vcl_hash { hash_data(req.url); hash_data(req.http.Accept-Language); return (lookup); }
sub vcl_backend_fetch { set bereq.http.X-Backend-Key = "k1"; unset bereq.http.X-Debug; return (fetch); }
sub vcl_backend_response {
    if (bereq.url ~ "^/v1/catalog") { set beresp.ttl = 5m; }
    if (beresp.status == 429) { set beresp.uncacheable = true; }
}
sub vcl_deliver { set resp.http.X-Content-Type-Options = "nosniff"; unset resp.http.X-Internal; }
