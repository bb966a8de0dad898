/**
 * Commands that look up, explain, list and purge stored responses.
 */
@NullMarked
package io.millrace.cli.command.cache;

import org.jspecify.annotations.NullMarked;
