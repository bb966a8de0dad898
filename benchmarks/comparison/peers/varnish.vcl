vcl 4.1;

backend origin {
    .host = "127.0.0.1";
    .port = "@ORIGIN@";
    .max_connections = 2000;
}

sub vcl_recv {
    # Unless told that cookies do not matter Varnish caches nothing for browsers that have some.
    unset req.http.Cookie;
}

sub vcl_backend_response {
    # Requests for what must not be stored do not queue behind one another.
    if (beresp.http.Cache-Control ~ "no-store") {
        set beresp.uncacheable = true;
        set beresp.ttl = 120s;
    }
}
