vcl 4.1;
import directors;
probe p { .request = "GET /health HTTP/1.1" "Host: app.example" "Connection: close"; .interval = 3s; .timeout = 2s; .expected_response = 200; }
backend a { .host = "10.5.0.1"; .port = "8080"; .probe = p; }
backend b { .host = "10.5.0.2"; .port = "8080"; .probe = p; }
backend c { .host = "10.5.0.3"; .port = "8080"; .probe = p; }
sub vcl_init {
    new pool = directors.round_robin();
    pool.add_backend(a);
    pool.add_backend(b);
    pool.add_backend(c);
    new spare = directors.fallback();
    spare.add_backend(a);
    spare.add_backend(c);
}
sub vcl_recv {
    set req.backend_hint = pool.backend();
    if (req.url ~ "^/reports/") { set req.backend_hint = spare.backend(); }
    if (req.http.Authorization) { return (pass); }
}
sub vcl_backend_response {
    if (beresp.status == 500 || beresp.status == 503) { return (abandon); }
    set beresp.grace = 30m;
}
sub vcl_backend_error {
    set beresp.http.Content-Type = "text/html; charset=utf-8";
    set beresp.http.Retry-After = "5";
    synthetic({"<html><body><h1>Please try again</h1></body></html>"});
    return (deliver);
}
