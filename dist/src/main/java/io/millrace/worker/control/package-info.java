/**
 * What the two processes share: the messages and paths of the control socket between launcher and worker, and how a
 * process hears of signals. Both sides import this package; it imports neither.
 */
@NullMarked
package io.millrace.worker.control;

import org.jspecify.annotations.NullMarked;
