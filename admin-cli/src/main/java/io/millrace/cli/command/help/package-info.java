/**
 * Commands that print help, manual pages and shell completion.
 */
@NullMarked
package io.millrace.cli.command.help;

import org.jspecify.annotations.NullMarked;
