/** Alarms of launcher and workers: their list, and the program and the syslog message for each change. */
@NullMarked
package io.millrace.launcher.alarm;

import org.jspecify.annotations.NullMarked;
