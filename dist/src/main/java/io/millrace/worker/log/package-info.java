/** The program log of launcher and worker: java.util.logging with a format of its own, to standard error. */
@NullMarked
package io.millrace.worker.log;

import org.jspecify.annotations.NullMarked;
