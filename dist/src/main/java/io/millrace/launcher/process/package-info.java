/** One worker process: command line, start, heartbeat and state. */
@NullMarked
package io.millrace.launcher.process;

import org.jspecify.annotations.NullMarked;
