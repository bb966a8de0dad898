vcl 4.1;
backend default { .host = "10.1.0.1"; }
backend api { .host = "10.1.0.2"; .port = "9000"; .connect_timeout = 1s; }
backend old { .host = "2001:db8::5"; .connect_timeout = 2s; }
sub vcl_recv {
    if (req.url ~ "^/api/") {
        set req.backend_hint = api;
    } else if (req.http.host ~ "(?i)^old\.example") {
        set req.backend_hint = old;
    } else {
        set req.backend_hint = default;
    }
    if (req.http.host == "www.example" && req.url ~ "^/(a|b)/") { set req.backend_hint = old; }
    if (req.url ~ "(?i)\.(pdf|zip)(\?.*)?$") { unset req.http.Cookie; }
}
