/** The launcher's ACME client (RFC 8555): orders, renews and stores certificates. */
@NullMarked
package io.millrace.acme;

import org.jspecify.annotations.NullMarked;
