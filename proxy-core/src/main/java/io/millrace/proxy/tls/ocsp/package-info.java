/** OCSP staples: requests, verified answers, and when to ask again (RFC 6960, RFC 6066 section 8). */
@NullMarked
package io.millrace.proxy.tls.ocsp;

import org.jspecify.annotations.NullMarked;
