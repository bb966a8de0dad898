backend default { .host = "10.2.0.1"; }
