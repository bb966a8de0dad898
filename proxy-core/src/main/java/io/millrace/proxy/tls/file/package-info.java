/** The private files that the worker keeps in its state directory for TLS. */
@NullMarked
package io.millrace.proxy.tls.file;

import org.jspecify.annotations.NullMarked;
