vcl 4.1;
backend default { .host = {"10.3.0.1"}; .port = "81"; }
sub vcl_recv {
    if ((req.url ~ "^/x\?a=1" || req.url ~ "^/y") && !(req.http.host ~ "^no\.")) { return (pass); }
    if (req.url ~ """^/z"quoted""") { return (pass); }
    if (std.healthy(req.backend_hint) && req.url) { set req.http.X-Healthy = "1" + req.url + {"x"}; }
};
