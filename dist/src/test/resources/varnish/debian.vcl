# In the manner of Debian's default.vcl.
vcl 4.1;
backend default {
    .host = "127.0.0.1";
    .port = "8080";
}
sub vcl_recv {
    # Clean up the request here.
}
sub vcl_backend_response {
    # Clean the response fields here.
}
sub vcl_deliver {
    # Accounting and the last changes.
}
