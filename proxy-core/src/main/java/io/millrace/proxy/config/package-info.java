/**
 * The configuration of the proxy. It consists of the catalogue of keys, the YAML loader with the problems that it
 * reports, and immutable records. Nothing in this package opens a socket or watches a file.
 */
@NullMarked
package io.millrace.proxy.config;

import org.jspecify.annotations.NullMarked;
