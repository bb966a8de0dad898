/**
 * Reads, filters and summarizes access logs. Supports every format that Millrace writes, and the formats of Traffic
 * Server. Independent of commands.
 */
@NullMarked
package io.millrace.cli.log;

import org.jspecify.annotations.NullMarked;
