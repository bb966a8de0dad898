/**
 * The supervision of workers: starts, restarts, replacement (rolls), reloads, and control connections.
 */
@NullMarked
package io.millrace.launcher.supervise;

import org.jspecify.annotations.NullMarked;
