/** Keys and records of {@code tls}, {@code tls.acme} and {@code origin.tls}. */
@NullMarked
package io.millrace.proxy.config.tls;

import org.jspecify.annotations.NullMarked;
