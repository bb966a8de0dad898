/**
 * Commands that show, check and change the configuration, and the import of another proxy's files.
 */
@NullMarked
package io.millrace.cli.command.config;

import org.jspecify.annotations.NullMarked;
