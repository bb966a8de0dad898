vcl 4.1;
import directors;
backend default { .path = "/run/app.sock"; .max_connections = 20; }
backend api_one { .path = "/run/api/one.sock"; }
backend api_two { .path = "/run/api/two.sock"; }
backend plain { .path = "/run/plain.sock"; }
sub vcl_init {
    new api = directors.round_robin();
    api.add_backend(api_one);
    api.add_backend(api_two);
}
sub vcl_recv {
    if (req.url ~ "^/api/") { set req.backend_hint = api.backend(); }
    if (req.http.host == "plain.example") { set req.backend_hint = plain; }
}
