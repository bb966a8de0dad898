/**
 * TLS contexts and certificate verification for connections to origins, as configured for a remap rule or an origin
 * group.
 */
@NullMarked
package io.millrace.proxy.fetch.tls;

import org.jspecify.annotations.NullMarked;
