/** Supervision of workers: starts, restarts, rolls and reloads, and the control connection to them. */
@NullMarked
package io.millrace.launcher.supervise;

import org.jspecify.annotations.NullMarked;
