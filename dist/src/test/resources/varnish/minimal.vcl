vcl 4.1;

# The smallest useful file
backend default {
    .host = "127.0.0.1";
    .port = "8080";
}

sub vcl_recv {
    # Happens before we check if we have this in cache already.
}

sub vcl_backend_response {
}

sub vcl_deliver {
}
