/**
 * Finds a running Millrace and sends HTTP/1.1 requests to its admin API. Each request uses a new connection and has a
 * deadline. This package does not depend on commands or terminals.
 */
@NullMarked
package io.millrace.cli.client;

import org.jspecify.annotations.NullMarked;
