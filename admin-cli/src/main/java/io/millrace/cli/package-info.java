/**
 * The program {@code millctl}: it sends requests to the admin HTTP API of a running Millrace and shows the responses.
 */
@NullMarked
package io.millrace.cli;

import org.jspecify.annotations.NullMarked;
