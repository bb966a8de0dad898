/**
 * Settings: one catalogue of keys, the YAML file that sets them, the problems found in it, and the immutable records
 * that the rest of the proxy reads. Nothing here opens a socket or watches a file; a configuration is a value.
 */
@NullMarked
package io.millrace.proxy.config;

import org.jspecify.annotations.NullMarked;
