vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "8000"; }
sub vcl_backend_response {
    if (beresp.http.Surrogate-Control ~ "ESI/1.0") {
        unset beresp.http.Surrogate-Control;
        set beresp.do_esi = true;
    }
}
