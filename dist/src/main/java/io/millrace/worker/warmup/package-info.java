/**
 * The warm-up of a worker. A separate proxy in the same JVM serves requests of a built-in client from a built-in
 * origin. So the JIT compilers have already compiled the code when the worker begins to serve clients.
 */
@NullMarked
package io.millrace.worker.warmup;

import org.jspecify.annotations.NullMarked;
