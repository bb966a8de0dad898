vcl 4.1;
import std;
backend default { .host = "app.internal"; .port = "80"; }
sub vcl_recv {
    set req.http.Host = regsub(req.http.Host, ":[0-9]+", "");
    set req.http.host = std.tolower(req.http.host);
    set req.url = std.querysort(req.url);
    set req.url = regsuball(req.url, "&(utm_source|utm_medium|utm_campaign|gclid)=([A-z0-9_\-\.%25]+)", "");
    set req.url = regsuball(req.url, "\?(utm_source|utm_medium|utm_campaign|gclid|fbclid)=([A-z0-9_\-\.%25]+)", "?");
    set req.url = regsub(req.url, "\?&", "?");
    set req.url = regsub(req.url, "\?$", "");
    if (req.url ~ "\#") { set req.url = regsub(req.url, "\#.*$", ""); }
    if (req.http.Accept-Encoding) {
        if (req.url ~ "\.(jpg|png|gif|gz|tgz|bz2|tbz|mp3|ogg)$") {
            unset req.http.Accept-Encoding;
        } elsif (req.http.Accept-Encoding ~ "gzip") {
            set req.http.Accept-Encoding = "gzip";
        } else {
            unset req.http.Accept-Encoding;
        }
    }
    unset req.http.Cookie;
    unset req.http.proxy;
    set req.http.X-Forwarded-For = client.ip;
    set req.http.X-Device = "desktop";
}
sub vcl_hash {
    hash_data(req.url);
    if (req.http.host) {
        hash_data(req.http.host);
    } else {
        hash_data(server.ip);
    }
    hash_data(req.http.Accept-Language);
    hash_data(req.http.X-Forwarded-Proto);
    return (lookup);
}
