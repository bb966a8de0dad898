vcl 4.1;
backend default { .host = "10.6.0.1"; .port = "80"; }
backend shop { .host = "10.6.0.2"; .port = "80"; }
backend blog { .host = "10.6.0.3"; .port = "80"; }
backend files { .host = "10.6.0.4"; .port = "80"; }
sub vcl_recv {
    if (req.http.host == "shop.example") { set req.backend_hint = shop; }
    elsif (req.http.host ~ "^(www\.)?blog\.example$") { set req.backend_hint = blog; }
    else { set req.backend_hint = default; }
    if (req.url ~ "^/download/") { set req.backend_hint = files; }
    if (req.http.host == "old.example") { return (synth(301, "https://new.example/")); }
    if (req.http.host == "intern.example") { return (synth(403)); }
    set req.http.X-Edge = "varnish";
    unset req.http.Proxy;
}
sub vcl_synth {
    if (resp.status == 301) { set resp.http.Location = resp.reason; set resp.reason = "Moved"; return (deliver); }
}
sub vcl_backend_response {
    if (bereq.http.host == "blog.example") { set beresp.ttl = 10m; }
    if (bereq.url ~ "^/download/") { set beresp.ttl = 30d; }
}
