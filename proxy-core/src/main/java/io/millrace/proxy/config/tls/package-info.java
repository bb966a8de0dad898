/**
 * Keys and records of TLS. {@code ServerTlsKeys} has those of listening addresses, {@code OriginTlsKeys} those of
 * origins, {@code AcmeKeys} those of automatic certificates, and {@code SharedTlsKeys} those that exist once.
 */
@NullMarked
package io.millrace.proxy.config.tls;

import org.jspecify.annotations.NullMarked;
