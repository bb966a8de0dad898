vcl 4.1;
acl office { "198.51.100.0"/24; ! "198.51.100.7"; "vpn.example.com"; }
acl local { "10.0.0.0"/8; }
backend default { .host = "intranet"; }
sub vcl_recv {
    if (client.ip !~ local) { return (synth(403, "Forbidden")); }
}
