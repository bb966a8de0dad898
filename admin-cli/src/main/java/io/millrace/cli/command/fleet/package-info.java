/** Commands about the configuration that a fleet (nodes that share purges and configuration) shares. */
@NullMarked
package io.millrace.cli.command.fleet;

import org.jspecify.annotations.NullMarked;
