/**
 * Configuration keys of TLS, and the settings that are read from them. {@code ServerTlsKeys} has the keys of each
 * listening address, {@code SharedTlsKeys} those for all addresses. {@code OriginTlsKeys} has the keys of origins, and
 * {@code AcmeKeys} those of automatic certificates.
 */
@NullMarked
package io.millrace.proxy.config.tls;

import org.jspecify.annotations.NullMarked;
