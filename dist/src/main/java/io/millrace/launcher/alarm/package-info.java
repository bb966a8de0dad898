/** Alarms of launcher and workers: their list, and the command and messages for each change. */
@NullMarked
package io.millrace.launcher.alarm;

import org.jspecify.annotations.NullMarked;
