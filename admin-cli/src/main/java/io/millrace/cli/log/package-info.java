/**
 * Reads, filters and summarizes access logs. Supports every format that Millrace writes, and the formats of Traffic
 * Server. This package does not depend on commands.
 */
@NullMarked
package io.millrace.cli.log;

import org.jspecify.annotations.NullMarked;
