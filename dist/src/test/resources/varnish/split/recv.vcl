sub vcl_recv { if (req.http.Cookie ~ "sid=") { return (pass); } }
