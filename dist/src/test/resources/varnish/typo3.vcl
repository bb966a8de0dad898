vcl 4.1;
import std;
backend default { .host = "10.0.0.6"; .port = "8080"; .max_connections = 200; }
acl ban { "localhost"; }
sub vcl_recv {
    if (req.method == "BAN") {
        if (client.ip !~ ban) { return (synth(405)); }
        std.log("ban requested");
        return (synth(200, "Banned"));
    }
    if (req.url ~ "^/typo3/") { return (pass); }
    if (req.http.Cookie ~ "be_typo_user|fe_typo_user") { return (pass); }
    unset req.http.Cookie;
    if (req.url ~ "^/(fileadmin|typo3temp|typo3conf)/") { return (hash); }
    return (hash);
}
sub vcl_backend_response {
    if (bereq.url ~ "^/(fileadmin|typo3temp)/") { set beresp.ttl = 30d; unset beresp.http.Set-Cookie; }
    set beresp.grace = 1h;
}
sub vcl_deliver {
    unset resp.http.TYPO3-Sitename;
    unset resp.http.X-Powered-By;
    set resp.http.X-Edge = "typo3";
}
