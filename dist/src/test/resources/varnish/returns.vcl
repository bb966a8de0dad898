vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "8080"; }
sub deny { return (synth(429)); }
sub device {
    if (req.http.X-Device == "set") { return; }
    set req.http.X-Checked = "yes";
}
sub vcl_recv {
    if (req.http.User-Agent ~ "badbot") { call deny; }
    if (req.method == "TRACE") { call deny; }
    if (req.url ~ "^/private/") { call deny; }
    if (req.http.Referer ~ "spam") { call deny; }
    call device;
    set req.http.X-Edge = "1";
    return (hash);
}
sub vcl_recv { set req.http.X-Dead = "1"; }
sub vcl_deliver {
    set resp.http.X-List += "b";
    set resp.http.X-Empty = "";
    return (deliver);
    set resp.http.X-Dead = "1";
}
