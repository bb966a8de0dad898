vcl 4.1;
backend default { .host = "10.9.0.1"; .port = "8080"; }
sub vcl_recv {
    set req.http.X-Device = "desktop";
    if (req.http.User-Agent ~ "(?i)(iphone|android.*mobile)") { set req.http.X-Device = "mobile"; }
    if (req.http.User-Agent ~ "(?i)(semrush|ahrefs)") { return (synth(403, "bots")); }
    if (req.url ~ "^/m/") { return (synth(302, "https://m.example/")); }
    if (req.http.Cookie ~ "session") { return (pass); }
    unset req.http.Cookie;
}
sub vcl_hash { hash_data(req.http.User-Agent); }
sub vcl_synth {
    if (resp.status == 302) { set resp.http.Location = resp.reason; return (deliver); }
    if (resp.status == 403) { set resp.http.Content-Type = "text/plain"; synthetic("go away"); return (deliver); }
}
sub vcl_backend_response { set beresp.ttl = 10m; set beresp.http.Vary = "User-Agent"; }
