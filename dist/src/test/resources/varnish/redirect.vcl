vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "8080"; }
sub vcl_recv {
    if (req.http.X-Forwarded-Proto !~ "(?i)https") { return (synth(750, "")); }
    if (req.url == "/ping") { return (synth(200, "OK")); }
    if (req.url ~ "^/private/") { return (synth(403)); }
    if (req.http.User-Agent ~ "(?i)badbot") { return (synth(403, "no")); }
}
sub vcl_synth {
    if (resp.status == 750) {
        set resp.status = 301;
        set resp.http.Location = "https://" + req.http.host + req.url;
        return (deliver);
    }
    set resp.http.Content-Type = "text/html; charset=utf-8";
    synthetic({"<!DOCTYPE html>
<html><body>
<h1>Error "} + resp.status + {"</h1>
</body></html>
"});
    return (deliver);
}
sub vcl_backend_error { synthetic("sorry"); return (deliver); }
