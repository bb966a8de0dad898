/**
 * Commands for the running server: status, drain, restart, memory, origins and certificates.
 */
@NullMarked
package io.millrace.cli.command.server;

import org.jspecify.annotations.NullMarked;
