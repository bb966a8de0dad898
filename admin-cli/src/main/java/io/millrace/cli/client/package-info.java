/**
 * Finds a running Millrace and sends HTTP/1.1 requests to its admin socket. Each request has a connection of its own,
 * and every wait has a deadline. Independent of commands and terminals.
 */
@NullMarked
package io.millrace.cli.client;

import org.jspecify.annotations.NullMarked;
