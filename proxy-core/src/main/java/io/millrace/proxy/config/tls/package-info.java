/**
 * Keys and records of TLS: {@code ServerTlsKeys} for listening addresses, {@code OriginTlsKeys} for origins, {@code
 * AcmeKeys} for automatic certificates, and {@code SharedTlsKeys} for settings that exist once.
 */
@NullMarked
package io.millrace.proxy.config.tls;

import org.jspecify.annotations.NullMarked;
