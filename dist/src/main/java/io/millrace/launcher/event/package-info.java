/** The events of launcher and workers: kept in memory and in a file of the state directory. */
@NullMarked
package io.millrace.launcher.event;

import org.jspecify.annotations.NullMarked;
