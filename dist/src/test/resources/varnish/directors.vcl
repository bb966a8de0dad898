vcl 4.1;
import directors;
probe healthcheck {
    .url = "/health";
    .interval = 5s;
    .timeout = 1s;
    .window = 5;
    .threshold = 3;
    .initial = 2;
    .expected_response = 204;
}
backend web1 { .host = "10.0.0.1"; .port = "8080"; .probe = healthcheck; .max_connections = 200; }
backend web2 { .host = "10.0.0.2"; .port = "8080"; .probe = healthcheck; }
backend img { .host = "10.0.0.3"; .probe = { .request = "GET /ping HTTP/1.1" "Host: img.example" "Connection: close"; .interval = 10s; } }
backend spare { .host = "10.0.0.4"; }
sub vcl_init {
    new web = directors.round_robin();
    web.add_backend(web1);
    web.add_backend(web2);
    new fall = directors.fallback();
    fall.add_backend(img);
    fall.add_backend(spare);
    new hashed = directors.hash();
    hashed.add_backend(web1, 1.0);
    hashed.add_backend(web2, 2.0);
    return (ok);
}
sub vcl_recv {
    set req.backend_hint = web.backend();
    if (req.http.host == "img.example.com") {
        set req.backend_hint = fall.backend();
    } elsif (req.http.host ~ "^(www\.)?shop\.example$") {
        set req.backend_hint = hashed.backend(req.url);
    }
    if (req.url ~ "^/static/") { set req.backend_hint = img; }
    if (req.url ~ "\.mp4$") { set req.backend_hint = spare; }
}
