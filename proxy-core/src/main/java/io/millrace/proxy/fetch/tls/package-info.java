/** TLS contexts and certificate verification for connections to origins, by the settings of a rule or group. */
@NullMarked
package io.millrace.proxy.fetch.tls;

import org.jspecify.annotations.NullMarked;
