/**
 * The program {@code millctl}, a client for the admin HTTP API of a running Millrace.
 */
@NullMarked
package io.millrace.cli;

import org.jspecify.annotations.NullMarked;
