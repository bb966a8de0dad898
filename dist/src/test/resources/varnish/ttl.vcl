vcl 4.0;
backend default { .host = "localhost"; .port = "8080"; }
sub vcl_recv { set req.url = regsub(req.url, "\?.*", ""); unset req.http.Cache-Control; unset req.http.Range; return (hash); }
sub vcl_backend_response { set beresp.ttl = 1.5h; set beresp.grace = 1d; }
