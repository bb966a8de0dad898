vcl 4.1;
acl purgers {
    "localhost";
    "192.168.55.0"/24;
    "2001:db8::"/32;
}
acl banned { "203.0.113.0"/24; }
backend default { .host = "127.0.0.1"; .port = "8080"; }
sub vcl_recv {
    if (client.ip ~ banned) {
        return (synth(403, "Forbidden"));
    }
    if (req.method == "PURGE") {
        if (!client.ip ~ purgers) {
            return (synth(405, "Not allowed."));
        }
        return (purge);
    }
    if (req.method == "BAN") {
        if (client.ip !~ purgers) { return (synth(403, "Forbidden")); }
        ban("req.http.host == " + req.http.host + " && req.url ~ " + req.url);
        return (synth(200, "Ban added"));
    }
    if (req.method !~ "^(GET|HEAD|POST|PUT)$") {
        return (synth(405));
    }
}
