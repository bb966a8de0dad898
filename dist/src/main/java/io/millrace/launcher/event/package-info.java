/** The event log of launcher and workers, in memory and in a file. */
@NullMarked
package io.millrace.launcher.event;

import org.jspecify.annotations.NullMarked;
