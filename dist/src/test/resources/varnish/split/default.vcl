vcl 4.1;
include "backends.vcl";
include "/etc/varnish/rules/recv.vcl";
include "lost.vcl";
// one-line comment
/* a comment
   of several lines */
sub vcl_deliver { unset resp.http.Age; }
