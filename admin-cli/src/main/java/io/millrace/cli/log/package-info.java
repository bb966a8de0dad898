/** Reads access logs: lines of every format that Millrace writes and Traffic Server's operators know, filters and statistics. Knows no command. */
@NullMarked
package io.millrace.cli.log;

import org.jspecify.annotations.NullMarked;
