/**
 * Finds a running Millrace and speaks HTTP/1.1 with its admin socket: one request per connection, every wait bounded by
 * a deadline. Knows nothing of commands and terminals.
 */
@NullMarked
package io.millrace.cli.client;

import org.jspecify.annotations.NullMarked;
