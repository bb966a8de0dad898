/** Audit records of purges, with identifiers and clients, kept across restarts. Does not carry out purges. */
@NullMarked
package io.millrace.proxy.purge.record;

import org.jspecify.annotations.NullMarked;
