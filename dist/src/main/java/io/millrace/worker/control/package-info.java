/**
 * The code that launcher and worker share. It consists of control messages and their codec, paths of sockets, and
 * signal handlers. It does not depend on the launcher or the worker.
 */
@NullMarked
package io.millrace.worker.control;

import org.jspecify.annotations.NullMarked;
