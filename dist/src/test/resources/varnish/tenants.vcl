vcl 4.1;
backend default none;
backend t1 { .host = "10.8.0.1"; }
backend t2 { .host = "10.8.0.2"; }
acl office { "192.0.2.0"/24; "2001:db8::"/32; }
acl banned { "198.51.100.7"; }
sub vcl_recv {
    if (client.ip ~ banned) { return (synth(403)); }
    call select_backend;
    call clean;
    if (req.url ~ "^/admin" && client.ip !~ office) { return (synth(403, "no")); }
}
sub select_backend {
    if (req.http.host ~ "^(www\.)?t1\.example$") { set req.backend_hint = t1; }
    if (req.http.host ~ "(^|\.)t2\.example$") { set req.backend_hint = t2; }
}
sub clean {
    unset req.http.X-Forwarded-Server;
    if (req.url ~ "\.(css|js|png|svg)$") { unset req.http.Cookie; }
    set req.url = regsuball(req.url, "(utm_source|utm_medium|gclid)=[^&]*&?", "");
}
sub vcl_backend_response {
    if (bereq.url ~ "\.(css|js|png|svg)$") { unset beresp.http.Set-Cookie; set beresp.ttl = 1d; }
    set beresp.grace = 1h;
}
