/** One worker process: its command line, its start, its heartbeat and what is known of it. */
@NullMarked
package io.millrace.launcher.process;

import org.jspecify.annotations.NullMarked;
