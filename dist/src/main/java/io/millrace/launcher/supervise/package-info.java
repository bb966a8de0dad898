/**
 * The supervision of workers: starts, restarts, replacement by a new worker (roll), reloads, and control connections.
 */
@NullMarked
package io.millrace.launcher.supervise;

import org.jspecify.annotations.NullMarked;
