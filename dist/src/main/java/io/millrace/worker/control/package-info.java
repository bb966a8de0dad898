/**
 * The parts shared by launcher and worker: the messages and paths of the control socket, and the handling of signals.
 * Both import this package, which imports neither.
 */
@NullMarked
package io.millrace.worker.control;

import org.jspecify.annotations.NullMarked;
