/** OCSP stapling: requests, verification of answers, and their renewal (RFC 6960, RFC 6066 section 8). */
@NullMarked
package io.millrace.proxy.tls.ocsp;

import org.jspecify.annotations.NullMarked;
